"""The Lehigh University Benchmark: its data, its ontology's 14 queries, and how long each step takes.

`generate.py` makes universities of the published profile, `queries/` holds the 14 queries, `python -m benchmarks.lubm`
measures load, materialisation and queries.
"""
