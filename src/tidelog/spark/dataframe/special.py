"""Relations that keep only some of what is derived, or more: equivalences, choice domains, subsumption.

Each is a gate of the fixpoint: when an iteration has added what its rules derive, it says what shall be in the table.
Cost: an equivalence takes a Spark action for each round of labelling (about the logarithm of the longest path) and then
holds all pairs; a choice domain with several keys takes one per round of choosing; the others take none of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from tidelog.evaluate.subsumption import plan_for_pairs
from tidelog.plan import core
from tidelog.plan.estimate import Estimate
from tidelog.plan.steps import View
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.fixpoint import Evaluation, Fixpoint, Gate
from tidelog.spark.dataframe.tables import COUNT, ITERATION, TAG, Table, column, in_one_task
from tidelog.spark.dataframe.translate import Translation


def equivalence(checkpoints: Checkpoints, name: str) -> Gate:
    """An `eqrel`: all pairs of elements that are connected."""

    def gate(table: Table, iteration: int) -> DataFrame:
        known = table.relation(name, ITERATION)
        labels = in_one_task(_labels(checkpoints, in_one_task(known, table.rows)), table.rows)
        left = labels.select(F.col("x").alias("c0"), F.col("label").alias("one"))
        right = labels.select(F.col("x").alias("c1"), F.col("label").alias("other"))
        pairs = left.join(right, F.col("one") == F.col("other")).select("c0", "c1")
        dated = in_one_task(known, table.rows).join(pairs, ["c0", "c1"], "right")
        rows = dated.select("c0", "c1", F.coalesce(ITERATION, F.lit(iteration)).alias(ITERATION))
        return _with_rows(table, name, rows)

    return gate


def _labels(checkpoints: Checkpoints, pairs: DataFrame) -> DataFrame:
    """For each element x a label that it shares with exactly those connected to it: the least of them."""
    edges = pairs.select(F.col("c0").alias("x"), F.col("c1").alias("y"))
    edges = edges.union(edges.select("y", "x")).distinct()
    labels, _ = checkpoints.take(edges.groupBy("x").agg(F.least("x", F.min("y")).alias("label")), {})
    changed = 1
    while changed:
        near = edges.join(labels.select(F.col("x").alias("y"), F.col("label").alias("near")), "y")
        low = near.groupBy("x").agg(F.min("near").alias("low"))
        hooked = labels.join(low, "x").select("x", "label", F.least("label", "low").alias("low"))
        offered = hooked.groupBy(F.col("label").alias("x")).agg(F.min("low").alias("offered"))
        better = hooked.join(offered, "x", "left").select("x", "label", F.least("low", "offered").alias("low"))
        shortcut = better.select(F.col("x").alias("low"), F.col("low").alias("lower"))
        found = better.join(shortcut, "low").select("x", F.col("lower").alias("to"), "label")
        moved = F.sum((F.col("to") != F.col("label")).cast("bigint"))
        taken, counts = checkpoints.take(found, {"changed": moved})
        labels, changed = taken.select("x", F.col("to").alias("label")), counts["changed"]
    return labels


def choice(checkpoints: Checkpoints, name: str, keys: Sequence[Sequence[int]], facts: Table) -> Gate:
    """A `choice-domain`: of the tuples that share a key the least of the first iteration stays; facts all stay."""
    named = [[column(place) for place in key] for key in keys]

    def gate(table: Table, iteration: int) -> DataFrame:
        rows = in_one_task(table.relation(name, ITERATION), table.rows)
        columns = [column(i) for i in range(len(table.layout.kinds[name]))]
        given = in_one_task(facts.relation(name), facts.rows)
        old = rows.where(F.col(ITERATION) < iteration)
        if iteration == 0:
            old = rows.join(given, columns, "left_semi")
        fresh = rows.join(old.select(*columns), columns, "left_anti")
        for key in named:
            fresh = fresh.join(old.select(*key).distinct(), key, "left_anti")
        kept, undecided = old, fresh
        while True:
            undecided, counts = checkpoints.take(undecided, {"rows": F.count(F.lit(1))})
            if counts["rows"] == 0:
                return _with_rows(table, name, kept)
            chosen, undecided = _choose(undecided, named, columns)
            kept = kept.union(chosen)

    return gate


def _choose(rows: DataFrame, keys: list[list[str]], columns: list[str]) -> tuple[DataFrame, DataFrame]:
    """The rows that come first wherever they share a key, and those that share no key with one of them."""
    places = [F.row_number().over(Window.partitionBy(*key).orderBy(*columns)) for key in keys]
    ranked = rows.select("*", reduce(F.greatest, places) if len(places) > 1 else places[0]).toDF(
        *columns, ITERATION, "_place"
    )
    chosen = ranked.where(F.col("_place") == 1).drop("_place")
    for key in keys:
        rows = rows.join(chosen.select(*key), key, "left_anti").select(*columns, ITERATION)
    return chosen, rows


def subsumption(fixpoint: Fixpoint, name: str, rules: Sequence[core.CoreRule], estimate: Estimate) -> Gate:
    """Subsumption: what another tuple of the relation subsumes goes."""
    plans = [plan_for_pairs(rule, name, name, estimate) for rule in rules]
    evaluation: Evaluation = fixpoint.evaluation

    def gate(table: Table, iteration: int) -> DataFrame:
        arity = len(table.layout.kinds[name])
        own = [column(i) for i in range(arity)]
        views = fixpoint.views(iteration)
        kept = in_one_task(table.relation(name, ITERATION), table.rows)
        for plan in plans:
            pairs = Translation(evaluation.surroundings, plan, lambda n, _: views(n, View.ALL)).heads()
            differs = [F.col(column(i)) != F.col(column(i + arity)) for i in range(arity)]
            lesser = pairs.where(reduce(Column.__or__, differs)).select(*own).distinct()
            kept = kept.join(lesser, own, "left_anti")
        return _with_rows(table, name, kept)

    return gate


def _with_rows(table: Table, name: str, rows: DataFrame) -> DataFrame:
    """The table with other rows for one relation; each has one derivation."""
    one = F.lit(1).cast("bigint").alias(COUNT)
    others = table.frame.where(F.col(TAG) != table.layout.tags[name])
    return in_one_task(others.union(table.layout.tagged(name, rows, F.col(ITERATION), one)), table.rows)
