"""Names: everything that is mentioned is declared, and used where and as often as it may be. `check.py` calls the
others, one idea each; `directives.py` is called by itself."""
