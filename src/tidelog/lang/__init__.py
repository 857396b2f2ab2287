"""Programs from text to tree and back, for three dialects. In the order of reading:

- `tree.py`, the syntax tree that all of them share; `depth.py`, how deeply it may nest.
- From a file to one text: `load.py`, where the suffix decides on the dialect; `preprocess.py` with
  `c_preprocessor.py`; `kept_programs.py` has those that were parsed before.
- From the text to a tree: `parsing.py` is what the dialects share, `fast_parser.py` the loop that does it,
  `escapes.py` what quoted strings say, `advice.py` what to say of common mistakes; `souffle.py`, `ndlog.py` and
  `rules.py` (triple rules) each have a grammar of their name.
- Back to text: `souffle_printer.py`, `ndlog_printer.py`, `rules_printer.py`.
"""
