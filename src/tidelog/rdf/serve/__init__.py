"""A graph as a SPARQL 1.1 endpoint over HTTP: `protocol.py` says what a request asks for and how it is answered,
`application.py` answers it, `run.py` listens."""
