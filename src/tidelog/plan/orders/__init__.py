"""From rules to plans: `order.py` schedules the steps of a body, by the order of atoms that `search.py` finds cheapest
with the sizes of `estimate.py`. `delta.py` makes the plans of semi-naive evaluation, `derivations.py` those of an
update, `touched_groups.py` those of an aggregate's, `paper_terms.py` those of the paper's Algorithm 3."""
