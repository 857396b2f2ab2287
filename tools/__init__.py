"""Commands for those who work on Tidelog: `python -m tools.names`, `python -m tools.import_graph`."""
