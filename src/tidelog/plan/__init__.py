"""From clauses to plans, which are data: `plan/` knows nothing of what runs them. In the order of reading:

- `core.py`, rules with numbered slots; `flatten.py` makes them of clauses; `text_facts.py`, facts in the program's
  text.
- `rewrites/`, from rules to rules that say the same, in one list; `stateful.py` applies those of evaluation with
  state.
- What is special about a stratum: `gates.py` (relations that keep some of what is derived), `whole.py` (strata that no
  update can follow), `best_of.py` (recursion for the best), `paper_sets.py` (the sets of the paper's Algorithm 3).
- `steps.py`, what plans are made of; `liveness.py`, which values a step needs; `orders/`, in which order; `show/`, as
  text.
- `exchange/`, plans whose matches travel between workers.
- `program.py`, all of it for a whole program.
"""
