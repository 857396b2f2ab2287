"""Graphs on Spark: files are read by Spark's tasks, and the store lives in a resident worker, with a state directory.

Tasks know no layout of triples: they bring all of them to one relation, from which the others are derived (`apart` of
`TripleLayout`). What the state directory holds can be opened without Spark as well, and what was made without Spark can
be updated here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from tidelog.errors import error
from tidelog.evaluate.limits import Observer
from tidelog.io.bad_rows import BadRows
from tidelog.local import Settings
from tidelog.plain import replace
from tidelog.plan.rewrites.specialise import GIVEN
from tidelog.rdf.graph import stored_program
from tidelog.rdf.graph_told import GraphEpoch
from tidelog.rdf.load import files_of, frequent_keys, read_all
from tidelog.rdf.placing import Placing
from tidelog.rdf.program import GraphProgram
from tidelog.rdf.source import TriplesDataSource
from tidelog.spark.resident.columnar_session import ColumnarSession
from tidelog.store.native import load
from tidelog.store.symbols import Symbols


def materialise(
    spark: Any,
    data: Iterable[str | os.PathLike[str]],
    program: GraphProgram,
    state: str | os.PathLike[str],
    skip_bad_rows: bool = False,
    observer: Observer | None = None,
) -> tuple[GraphEpoch, int]:
    """Make a state directory of files; the epoch, and how many triples there are."""
    if stored_program(state) is not None:
        raise error("TL1415", f"there is a graph in `{state}` already",
                    help="change it with update, or choose another directory")  # fmt: skip
    files = [path for source in data for path in files_of(source)]
    program = replace(program, also=frequent_keys(list(files)), apart=True).with_equality(given=True)
    spark.dataSource.register(TriplesDataSource)
    reader = spark.read.format("ntriples").option("mode", "DROPMALFORMED" if skip_bad_rows else "FAILFAST")
    frames = [reader.load(str(file.resolve())) for file in files]
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.union(other)
    triples = frame.selectExpr("subject as s", "predicate as p", "object as o")
    return _run(spark, program, state, observer, lambda session: session.bootstrap({GIVEN: triples}))


def update(
    spark: Any,
    state: str | os.PathLike[str],
    insert: Any = None,
    delete: Any = None,
    program: GraphProgram | None = None,
    observer: Observer | None = None,
) -> tuple[GraphEpoch, int]:
    """The next epoch of a state directory, with another `program` if there is one; changes are read here."""
    stored = stored_program(state)
    if stored is None:
        raise error("TL1404", f"there is no graph in `{state}`")
    if stored.merged:
        raise error("TL1417", "a graph whose equal resources are merged is changed without Spark",
                    help="leave --master away")  # fmt: skip
    if program is not None and not stored.layout.apart:
        raise error("TL1417", "the rules of a graph that was made without Spark change without Spark",
                    help="leave --master away")  # fmt: skip
    using = program or stored
    symbols = Symbols(load())
    placing = Placing(using.layout, symbols)
    sides = [_tables(source, placing, symbols) for source in (insert, delete)]
    if using.equality in sides[0]:
        raise error("TL1417", "the first owl:sameAs changes the rules of a graph that was made without Spark, which is "
                    "done without Spark", help="leave --master away")  # fmt: skip
    act = lambda session: session.update(sides[0], sides[1], (), None)  # noqa: E731
    return _run(spark, using, state, observer, act, migrate=program is not None)


def _run(
    spark: Any, program: GraphProgram, state: Any, observer: Observer | None, act: Any, migrate: bool = False
) -> tuple[GraphEpoch, int]:
    settings = Settings(state=state, functors=program.functors, migrate=migrate)
    settings.check()
    session = ColumnarSession(program.checked, settings, spark, observer)
    try:
        epoch = act(session)
        names = [name for _, name in program.layout.distinct()]
        came, went = (sum(map(side.count, names)) for side in (epoch.inserted, epoch.deleted))
        made = GraphEpoch(epoch.number, came, went, epoch.seconds, epoch.strategy)
        return made, sum(session.count(name) for name in names)
    finally:
        session.close()


def _tables(source: Any, placing: Placing, symbols: Symbols) -> dict[str, Any]:
    """Changes as tables by relation."""
    parts: dict[str, list[Any]] = {}
    bad = BadRows()
    for triples in read_all(() if source is None else source, symbols, bad):
        for name, rows in placing.split(triples):
            columns = {1: ("s",), 2: ("s", "o"), 3: ("s", "p", "o")}[rows.shape[1]]
            texts = [symbols.decode(rows[:, i]).cast(pa.string()) for i in range(len(columns))]
            parts.setdefault(name, []).append(pa.table(dict(zip(columns, texts, strict=True))))
    bad.check()
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}
