"""Components: `expand.py` puts the content of every `.init` in its place, with `renaming.py`; `scopes.py` knows where
a component's name is visible, and `checks.py` judges the declarations that are never instantiated, too."""
