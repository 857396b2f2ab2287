"""The `tidelog` command. In the order of reading:

- `main.py` finds the command that is meant, and says how commands end; `command_line.py` has all of them, for typer;
  `usage.py` is for command lines that are none, `front.py` the options that commands share, `loading.py` the way from
  a file to a checked program, `progress.py` what they say meanwhile, `on_spark.py` those that may work on Spark,
  `without_pandas.py` what small runs leave out, `process_age.py` how long the user has waited already.
- One file per command: `check.py`, `run.py` (with `running.py`, and `plain_options.py`, a way past typer), `plan.py`,
  `profile.py` (with `profile_page.py`), `bootstrap.py`, `update.py`, `query.py`, `state.py` (also `compact` and
  `verify`), `net.py` (with `net_time.py`), `rdf.py` (with `materialise.py`).
- `shell.py`, the longest of them: `statements.py` finds where statements end, `commands.py` what they say
  (`command_values.py` for values), `interpreter.py` carries them out, in a `transaction.py`; `prompt.py` reads from a
  person, whom `shell_help.py` helps.
"""
