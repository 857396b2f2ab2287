"""Ad-hoc queries over the tables, with the meaning that `evaluate/query.py` gives them."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.errors import Source
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.query import HEAD, query_program
from tidelog.plain import replace
from tidelog.plan.program import plan_stratum
from tidelog.plan.stateful import flat_rules
from tidelog.spark.dataframe.refuse import refuse_unsupported
from tidelog.spark.dataframe.sql import Select, union
from tidelog.spark.dataframe.strata import Sizes
from tidelog.spark.dataframe.tables import Table, input_view, tasks_for
from tidelog.spark.dataframe.translate import Surroundings, Translation


def answer(
    source: Source, checked: Checked, surroundings: Surroundings, tables: Mapping[str, Table]
) -> tuple[RelationInfo, Select, Checked]:
    """The relation of the answers, its tuples as the executor holds them, and the query's program; nothing runs yet."""
    prepared = Prepared(query_program(source, checked), surroundings.functors)
    refuse_unsupported(prepared.checked)
    info = prepared.checked.relations[HEAD]
    stratum = next(s for s in prepared.checked.strata if HEAD in s.relations)
    kinds = {**surroundings.kinds, HEAD: info.kinds}
    counts = {name: table.counts[name] for name, table in tables.items()}
    sizes = Sizes({name: len(columns) for name, columns in kinds.items()}, counts)
    plans = plan_stratum(stratum, flat_rules(prepared.checked, stratum), sizes).once
    read = {match.relation for p in plans for s in p.steps if (match := getattr(s, "match", None)) is not None}
    rows = sum(counts[name] for name in read)
    own = replace(surroundings, kinds=kinds, tasks=tasks_for(rows))
    found = [Translation(own, plan, lambda name, _: input_view(tables[name], name, rows)).heads() for plan in plans]
    return info, union(found).distinct(), prepared.checked
