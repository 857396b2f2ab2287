"""Relations that keep only some of what is derived, or more: equivalences, choice domains, subsumption.

Each is a gate of the fixpoint: when an iteration has added what its rules derive, it says what shall be in the table.
Cost: an equivalence takes a Spark action for each round of labelling (about the logarithm of the longest path) and then
holds all pairs; a choice domain with several keys takes one per round of choosing; the others take none of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.evaluate.subsumption import plan_for_pairs
from tidelog.plan import core
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.steps import View
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.fixpoint import FrameFixpoint, FrameGate
from tidelog.spark.dataframe.sql import Select, conjunction, union
from tidelog.spark.dataframe.tables import COUNT, ITERATION, TAG, Table, column, in_one_task
from tidelog.spark.dataframe.translate import Translation


def equivalence(checkpoints: Checkpoints, name: str) -> FrameGate:
    """An `eqrel`: all pairs of elements that are connected."""

    def gate(table: Table, iteration: int) -> Select:
        known = in_one_task(table.relation(name, ITERATION), table.size)
        labels = in_one_task(_labels(checkpoints, known, table.size), table.size)
        left = labels.select({"c0": "x", "one": "label"})
        right = labels.select({"c1": "x", "other": "label"})
        pairs = left.join(right, "one = other").only(("c0", "c1"))
        dated = known.select({"k0": "c0", "k1": "c1", ITERATION: ITERATION})
        rows = pairs.join(dated, "c0 = k0 AND c1 = k1", "LEFT", ("k0", "k1"))
        return _with_rows(table, name, rows.adding({ITERATION: f"coalesce({ITERATION}, {iteration})"}))

    return gate


def _labels(checkpoints: Checkpoints, pairs: Select, size: int) -> Select:
    """For each element x a label that it shares with exactly those connected to it: the least of them.

    In a round, an element takes the least label near it, offers it to the element it is labelled with, and then takes
    the label of its label.
    """
    ways = [pairs.select({"x": one, "y": other}) for one, other in (("c0", "c1"), ("c1", "c0"))]
    edges, _ = checkpoints.take(in_one_task(union(ways), size).distinct(), {})
    labels, _ = checkpoints.take(edges.grouped(["x"], {"label": "least(x, min(y))"}), {})
    changed = 1
    while changed:
        near = edges.join(labels.select({"n": "x", "low": "label"}), "y = n").grouped(["x"], {"low": "min(low)"})
        hooked = labels.join(near.select({"n": "x", "low": "low"}), "x = n", dropped="n")
        hooked = hooked.adding({"low": "least(label, low)"})
        offers = hooked.grouped(["label"], {"offer": "min(low)"}).select({"n": "label", "offer": "offer"})
        better = hooked.join(offers, "x = n", "LEFT", "n").select(
            {"x": "x", "label": "label", "low": "least(low, offer)"}
        )
        shortcut = better.select({"n": "x", "lower": "low"})
        found = better.join(shortcut, "low = n", dropped="n").only(("x", "label", "lower"))
        taken, counts = checkpoints.take(found, {"changed": "count_if(lower != label)"})
        labels, changed = taken.select({"x": "x", "label": "lower"}), counts["changed"]
    return labels


def choice(checkpoints: Checkpoints, name: str, keys: Sequence[Sequence[int]], facts: Table) -> FrameGate:
    """A `choice-domain`: of the tuples that share a key the least of the first iteration stays; facts all stay."""
    named = [[column(place) for place in key] for key in keys]

    def gate(table: Table, iteration: int) -> Select:
        rows = in_one_task(table.relation(name, ITERATION), table.size)
        columns = [column(i) for i in range(len(table.layout.kinds[name]))]
        old = rows.where(f"{ITERATION} < {iteration}")
        if iteration == 0:
            old = rows.matching(in_one_task(facts.relation(name), facts.size), columns, "LEFT SEMI")
        undecided = rows.matching(old, columns, "LEFT ANTI")
        for key in named:
            undecided = undecided.matching(old, key, "LEFT ANTI")
        kept = [old]
        while True:
            undecided, counts = checkpoints.take(undecided, {"rows": "count(1)"})
            if counts["rows"] == 0:
                return _with_rows(table, name, union(kept))
            chosen, undecided = _choose(undecided, named, columns)
            kept.append(chosen)

    return gate


def _choose(rows: Select, keys: list[list[str]], columns: list[str]) -> tuple[Select, Select]:
    """The rows that come first wherever they share a key, and those that share no key with one of them."""
    order = ", ".join(columns)
    places = {
        f"p{i}": f"row_number() OVER (PARTITION BY {', '.join(key)} ORDER BY {order})" for i, key in enumerate(keys)
    }
    first = rows.adding(places).where(conjunction(f"{place} = 1" for place in places)).only(rows.columns)
    rest = rows
    for key in keys:
        rest = rest.matching(first, key, "LEFT ANTI")
    return first, rest


def subsumption(fixpoint: FrameFixpoint, name: str, rules: Sequence[core.CoreRule], estimate: Estimate) -> FrameGate:
    """Subsumption: what another tuple of the relation subsumes goes."""
    plans = [plan_for_pairs(rule, name, name, estimate) for rule in rules]

    def gate(table: Table, iteration: int) -> Select:
        arity = len(table.layout.kinds[name])
        own = [column(i) for i in range(arity)]
        views = fixpoint.views(iteration)
        kept = in_one_task(table.relation(name, ITERATION), table.size)
        for plan in plans:
            pairs = Translation(fixpoint.evaluation.surroundings, plan, lambda n, _: views(n, View.ALL)).heads()
            differ = " OR ".join(f"{column(i)} != {column(i + arity)}" for i in range(arity))
            kept = kept.matching(pairs.where(differ), own, "LEFT ANTI")
        return _with_rows(table, name, kept)

    return gate


def _with_rows(table: Table, name: str, rows: Select) -> Select:
    """The table with other rows for one relation; each has one derivation."""
    others = table.rows.where(f"{TAG} != {table.layout.tags[name]}")
    mine = table.layout.tagged(name, rows, {ITERATION: ITERATION, COUNT: "1L"})
    return in_one_task(union([others, mine]), table.size)
