"""A graph: triples, what follows from them, kept up to date, and asked by patterns.

    from tidelog.rdf import Graph
    with Graph("data/*.nt.gz", ontology="univ-bench.owl", state="kb") as graph:
        found = graph.match([("?x", "<http://a.org/uncle>", "?y")])
        found.names                              # ("x", "y")
        graph.texts(found.rows[:, 0])            # an Arrow array of terms
        graph.update(insert="new.nt", delete="old.nt")

What is always true: the triples are those that were given and those that follow from them by rules and ontology; a term
is its canonical N-Triples text, whose id is a word of `symbols`. Which relations hold the triples (`program.layout`) is
nobody else's business. A graph that was opened for reading changes nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.query import answer
from tidelog.io.bad_rows import BadRows
from tidelog.lang import tree
from tidelog.lang.rules import TRIPLE
from tidelog.local import Epoch, LocalSession, Settings
from tidelog.plain import replace
from tidelog.plan.rewrites.specialise import GIVEN, Key
from tidelog.rdf.axioms import SAME_AS
from tidelog.rdf.graph_told import GraphEpoch, Violation
from tidelog.rdf.load import TABLE_COLUMNS, frequent_keys, read_all
from tidelog.rdf.patterns import EVERYTHING, Matches, Pattern, body_of, is_about_several, variables
from tidelog.rdf.placing import Placing
from tidelog.rdf.program import VIOLATIONS, GraphProgram, check_ruleset, parsed_rules, read_axioms
from tidelog.rdf.representatives import Merging, distinct, is_merging, union, without
from tidelog.rdf.write import write_triples
from tidelog.state.files import Files
from tidelog.state.manifest import read_manifest
from tidelog.state.program_text import program_of
from tidelog.store import Database, Relation
from tidelog.store.symbols import Symbols

_NO_TRIPLES = np.zeros((0, 3), np.int64)


class Graph:
    """See the module's docstring.

    `data` is a source of triples or several: names of files or patterns of names, rdflib graphs, tables with columns
    subject, predicate and object, rows of three texts. `rules` are triple rules: a file's name, a text, or several of
    these. `ontology` are files of an ontology, which becomes rules (`ontology.py`); with a `ruleset`, such as "rdfs" or
    "owl2rl", the rule tables of that name read an ontology that is part of the data. Resources that are equal by
    owl:sameAs share their triples by rules (`same_as="axioms"`), or are one ("representatives").

    `state` is a state directory. If it has a state and there is no `data`, the graph goes on from there, with its own
    rules and ontology; `update` changes them.
    """

    def __init__(
        self,
        data: Any = None,
        *,
        rules: Any = None,
        ontology: Any = None,
        ruleset: str | None = None,
        same_as: str = "axioms",
        state: str | os.PathLike[str] | None = None,
        strategy: str = "elastic",
        threads: int = 1,
        skip_bad_rows: bool = False,
        read_only: bool = False,
        limits: Limits | None = None,
        observer: Observer | None = None,
    ) -> None:
        check_ruleset(ruleset)
        self.skip_bad_rows, self.threads, self._observer = skip_bad_rows, threads, observer
        program = GraphProgram(parsed_rules(rules), read_axioms(ontology), ruleset, merged=is_merging(same_as, ruleset))
        stored = None if state is None else stored_program(state)
        if stored is not None:
            _refuse_two_programs(data, program, stored, state)
            program = stored
        else:
            also = frequent_keys(data)
            program = replace(program, also=also).with_equality(given=Key(SAME_AS) in also)
        self._settings = Settings(
            strategy=strategy, limits=limits or Limits(), state=state, read_only=read_only, skip_bad_rows=skip_bad_rows,
            threads=threads if strategy == "batch" else 1,
        )  # fmt: skip
        self._settings.check()
        self._open(program)
        if not self._session.epoch:
            self.load(() if data is None else data)
        elif not read_only:
            self._change({}, {}, BadRows())
            self._settle()

    def _open(self, program: GraphProgram, migrate: bool = False) -> None:
        settings = replace(self._settings, functors=program.functors, migrate=migrate)
        self.program = program
        self._session = LocalSession(program.checked, settings, self._observer)
        self._placing = Placing(program.layout, self.symbols)
        self._merging = Merging(self._session, self._placing, program.checked) if program.merged else None
        self._everything: Relation | None = None

    # ---- epochs

    def load(self, data: Any) -> GraphEpoch:
        """Begin with these triples and no others."""
        if self.program.renamed:
            self._session.close()
            self._open(replace(self.program, renamed=(), stored=None))
        return self._load(data)

    def _load(self, data: Any) -> GraphEpoch:
        data = list(data) if isinstance(data, Iterator) else data  # it may be read twice
        bad = BadRows(self.skip_bad_rows)
        gathered: dict[str, Relation] = {}
        self._forget_everything()
        with self._session.limited("while reading triples"):
            for triples in read_all(data, self.symbols, bad, threads=self.threads):
                for name, rows in self._placing.split(triples):
                    if name not in gathered:
                        gathered[name] = self._session.gather(name)
                    gathered[name].insert(rows)
        bad.check()
        if self.program.equality in gathered:
            self._session.close()
            self._open(self.program.with_equality(given=True))
            return self._load(data)
        self.last = self._ended(self._session.bootstrap_words(gathered, tuple(bad.report())))
        self._settle()
        return self.last

    def update(
        self,
        insert: Any = None,
        delete: Any = None,
        *,
        rules: Any = None,
        insert_ontology: Any = None,
        delete_ontology: Any = None,
    ) -> GraphEpoch:
        """The next epoch: delete triples, then insert others. Only given triples can be deleted, not derived ones.

        With `rules`, these take the place of the graph's rules; axioms may be added to its ontology and taken from it.
        What depends on rules that changed is evaluated anew.
        """
        bad = BadRows(self.skip_bad_rows)
        insert, delete = (list(source) if isinstance(source, Iterator) else source for source in (insert, delete))
        if rules is not None or insert_ontology is not None or delete_ontology is not None:
            gone, come = read_axioms(delete_ontology), read_axioms(insert_ontology)
            changed = self.program.changed(None if rules is None else parsed_rules(rules), gone, come)
            began, before = time.perf_counter(), self._sizes()
            if self._merging is not None and self._settings.state is not None:
                self._merging.change(_NO_TRIPLES, _NO_TRIPLES, anew=True, settle=False)
            self._reopen(changed)
            done = self.update(insert, delete)
            self.last = self._since(before, time.perf_counter() - began, done.told, "migration")
            return self.last
        if self._merging is not None:
            return self._merged_update(insert, delete, bad)
        with self._session.limited("while reading triples"):
            additions = self._split(insert, bad)
            if self.program.equality in additions:
                self._reopen(self.program.with_equality(given=True))
                additions = self._split(insert, BadRows(self.skip_bad_rows))
            removals = self._split(delete, bad)
        bad.check()
        self.last = self._change(removals, additions, bad)
        return self.last

    def _merged_update(self, insert: Any, delete: Any, bad: BadRows) -> GraphEpoch:
        """The next epochs of a graph whose equal resources are one."""
        began, before = time.perf_counter(), self._sizes()
        with self._session.limited("while reading triples"):
            gone, come = (self._read(source, bad) for source in (delete, insert))
        bad.check()
        moved = self._change({}, {}, bad)
        merging = self._merging
        assert merging is not None
        if not (self.program.renamed and merging.breaks(gone)):
            told = merging.change(gone, come)
            self._settle()
        elif self._settings.state is not None:
            self._reopen(replace(self.program, renamed=(), also=tuple(self.program.layout.relations), stored=None))
            again = BadRows(self.skip_bad_rows)  # terms have other ids now
            gone, come = (self._read(source, again) for source in (delete, insert))
            told = self._merging.change(gone, come, anew=True)  # type: ignore[union-attr]  # another one now
            self._settle()
        else:
            given = distinct(np.concatenate([*self.given()]))
            kept = pa.table(_columns(self.texts, union(without(given, gone), come)))
            told = None
            self.load(kept)
        self.last = self._since(before, time.perf_counter() - began, told, told.strategy if told else moved.strategy)
        return self.last

    def _settle(self) -> None:
        """Unite what is equal, also where rules name it, until nothing more is."""
        if self._merging is None:
            return
        self._forget_everything()
        self._merging.rounds()
        names = self._merging.names(self.program.constants)
        if names != self.program.renamed:
            also = tuple(self.program.layout.relations)
            self._reopen(replace(self.program, renamed=names, also=also, stored=None))
            self._settle()

    def _read(self, source: Any, bad: BadRows) -> Words:
        parts = read_all(() if source is None else source, self.symbols, bad, threads=self.threads)
        return distinct(np.concatenate([_NO_TRIPLES, *(triples[:, :3] for triples in parts)]))

    def _sizes(self) -> dict[Key | None, int]:
        """How many triples there are of each predicate and class that has a relation of its own, and of the others."""
        engine = self._session.ready()
        sizes = {key: engine.count(name) for key, name in self.program.layout.distinct()}
        if self._merging is not None:
            same = Key(SAME_AS)
            sizes[same] = sizes.get(same, 0) + len(self._merging.equalities())
        return sizes

    def _since(
        self, before: dict[Key | None, int], seconds: float, told: Epoch[pa.Table] | None, strategy: str
    ) -> GraphEpoch:
        """What became of the triples since they were so many."""
        after = self._sizes()
        differences: dict[Key | None, int] = {}
        for sizes, sign in ((before, -1), (after, 1)):
            for key, count in sizes.items():
                place = key if key in before and key in after else None  # it may have moved from one to the other
                differences[place] = differences.get(place, 0) + sign * count
        came, went = (sum(max(sign * d, 0) for d in differences.values()) for sign in (1, -1))
        return GraphEpoch(self._session.epoch, came, went, seconds, strategy, told)

    def _split(self, source: Any, bad: BadRows) -> dict[str, Words]:
        parts: dict[str, list[Words]] = {}
        for triples in read_all(() if source is None else source, self.symbols, bad, threads=self.threads):
            for name, rows in self._placing.split(triples):
                parts.setdefault(name, []).append(rows)
        return {name: np.concatenate(rows) for name, rows in parts.items()}

    def _change(self, removals: dict[str, Words], additions: dict[str, Words], bad: BadRows) -> GraphEpoch:
        """The next epoch; facts whose predicates rules have come to name move to the relations they belong to."""
        self._forget_everything()
        moved = self._misplaced()
        if len(moved):
            gone = removals.get(TRIPLE, np.zeros((0, 3), np.int64))
            removals = {**removals, TRIPLE: np.concatenate([gone, moved])}
            for name, rows in self._placing.split(moved):
                kept = additions.get(name, np.zeros((0, rows.shape[1]), np.int64))
                additions = {**additions, name: np.concatenate([kept, rows])}
        elif not (removals or additions) and self._session.epoch:
            return GraphEpoch(self._session.epoch, 0, 0, 0.0, "none")
        return self._ended(self._session.update_words(removals, additions, warnings=tuple(bad.report())))

    def _misplaced(self) -> Words:
        if self.program.layout.apart:
            return np.zeros((0, 3), np.int64)
        rest = self._session.ready().facts(TRIPLE)
        return rest[self._placing.misplaced(rest)]

    def _reopen(self, program: GraphProgram) -> None:
        """Go on with another program: from the state directory if there is one, else from the given triples."""
        program.checked  # noqa: B018 - what is wrong with it is said before anything ends
        if self._settings.state is not None:
            self._session.close()
            self._open(program, migrate=True)
            return
        given = [pa.table(_columns(self.texts, triples)) for triples in self.given()]
        old = self._session
        self._open(program)
        self._load(given)
        old.close()

    def _ended(self, epoch: Epoch[pa.Table]) -> GraphEpoch:
        names = [name for _, name in self.program.layout.distinct()]
        came, went = (sum(map(side.count, names)) for side in (epoch.inserted, epoch.deleted))
        return GraphEpoch(epoch.number, came, went, epoch.seconds, epoch.strategy, epoch)

    # ---- terms

    @property
    def symbols(self) -> Symbols:
        """The dictionary of the terms: `find(text)` is an id or None, `text(id)` a text."""
        return self._session.database.symbols

    def texts(self, ids: Words) -> pa.Array:
        """The terms of ids, as an Arrow array."""
        return self.symbols.decode(ids)

    # ---- reading

    def match(self, patterns: Sequence[Pattern]) -> Matches:
        """The distinct values of the variables of a conjunction of triple patterns; see `patterns.py`."""
        names = variables(patterns)
        if not patterns:
            return Matches((), np.zeros((1, 0), np.int64))
        if self._merging is not None and len(self._merging.classes):
            patterns = [(self._one(s), self._one(p), self._one(o)) for s, p, o in patterns]
        database = self._session.ready().query_database()
        layout = self.program.layout
        filled = [key for key, name in layout.distinct() if key is not None and database[name].count]
        body = body_of(patterns, layout, filled)
        checked = self.program.checked
        if is_about_several(patterns, layout):
            self._with_everything(database)
            columns = tuple(tree.Attribute(name, "symbol") for name in ("s", "p", "o"))
            items = (*checked.program.items, tree.RelationDecl(EVERYTHING, columns))
            checked = replace(checked, program=tree.Program(items))
        with self.limited("while answering a query"):
            found = answer(body, checked, database, {})
        order = [list(found.info.attributes).index(f"v{number}") for number in range(len(names))]
        return Matches(names, found.rows[:, order])

    def limited(self, doing: str) -> AbstractContextManager[None]:
        """Meanwhile the graph's limits hold."""
        return self._session.limited(doing)

    def _with_everything(self, database: Database) -> None:
        """See to it that the database has all triples in one relation, until the next epoch."""
        if self._everything is None:
            relation = database.create(EVERYTHING, 3)
            for triples in self._placing.join(self._session.ready().rows):
                relation.insert(triples)
            relation.settle()
            self._everything = relation

    def _forget_everything(self) -> None:
        if self._everything is not None:
            self._everything.database.drop(EVERYTHING)
            self._everything = None

    def words(self) -> Iterator[Words]:
        """All triples, given and derived, as ids; some at a time. Of equal resources that are one, those of the
        representative, and who is the same as it."""
        found = self._placing.join(self._session.ready().rows)
        if self._merging is None:
            yield from found
            return
        for triples in found:
            yield self._merging.proper(triples)
        yield self._merging.equalities()

    def representatives(self) -> pa.Table:
        """Terms that others stand for, and these (`same_as="representatives"`)."""
        pairs = _NO_TRIPLES if self._merging is None else self._merging.equalities()
        return pa.table({"term": self.texts(pairs[:, 0]), "representative": self.texts(pairs[:, 2])})

    def one(self, number: int) -> int:
        """The id of the term that stands for a term; its own, unless equal resources are one."""
        return number if self._merging is None else self._merging.one(number)

    def _one(self, term: str) -> str:
        known = None if term.startswith("?") else self.symbols.find(term)
        return term if known is None else self.symbols.text(self.one(known))

    def said(self, triples: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """Triples, and those given ones that say the same of resources that are equal and one."""
        if self._merging is None or not triples:
            return triples
        found = _columns(self.texts, self._merging.said(self._read(triples, BadRows())))
        return list(zip(*(column.to_pylist() for column in found.values()), strict=True))

    def given(self) -> Iterator[Words]:
        """The triples that were given, in the same way."""
        engine, layout = self._session.ready(), self.program.layout
        if self._merging is not None:
            yield from self._merging.given()
            return
        if layout.apart:
            yield engine.facts(GIVEN)
            return
        entries: list[tuple[Key | None, str]] = [*layout.relations.items(), (None, TRIPLE)]
        for key, name in entries:
            yield self._placing.triples(key, engine.facts(name))

    def __len__(self) -> int:
        engine = self._session.ready()
        if self._merging is not None:
            return sum(len(triples) for triples in self.words())
        return sum(engine.count(name) for _, name in self.program.layout.distinct())

    def violations(self) -> list[Violation]:
        """What contradicts the ontology: triples that cannot both be true, and the rule of OWL 2 RL that says so."""
        if not self.program.has_violations:
            return []
        rows = self._session.ready().rows(VIOLATIONS).astype(np.int64)
        texts = self.texts(rows.reshape(-1)).to_pylist()
        found = [texts[i : i + 7] for i in range(0, len(texts), 7)]
        return sorted(Violation(str(row[0])[1:-1], tuple(row[1:4]), tuple(row[4:])) for row in found)

    @property
    def outside(self) -> list[str]:
        """What the ontology says that is outside of OWL 2 RL, each with its reason."""
        return self.program.ontology.outside if self.program.ontology else []

    # ---- out

    def to_arrow(self) -> pa.Table:
        """All triples, as a table of texts."""
        found = np.concatenate(list(self.words()))
        return pa.table(_columns(self.texts, found))

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """All triples, as a DataFrame of Spark."""
        return spark.createDataFrame(self.to_arrow().cast(pa.schema([(name, pa.string()) for name in TABLE_COLUMNS])))

    def to_rdflib(self) -> Any:
        """All triples that RDF allows, as an rdflib graph: without those whose subject is a literal."""
        from tidelog.rdf.rdflib_graph import rdflib_graph

        return rdflib_graph(self.proper(), self.texts)

    def write(self, path: str | os.PathLike[str]) -> int:
        """Write all triples that RDF allows to a file, whose suffix says the format; how many."""
        return write_triples(Path(path), self.proper(), self.symbols)

    def proper(self) -> Iterator[Words]:
        """All triples but those whose subject is a literal: rules may derive them, and no format can hold them."""
        for triples in self.words():
            subjects, places = np.unique(triples[:, 0], return_inverse=True)
            literal = np.array([text.startswith('"') for text in self.texts(subjects).to_pylist()], np.bool_)
            yield triples[~literal[places]] if literal.any() else triples

    # ---- its end

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stored_program(state: str | os.PathLike[str]) -> GraphProgram | None:
    """The program of a state directory, if it has a state; an error if that is no graph's."""
    manifest = read_manifest(Files.at(state))
    if manifest is None:
        return None
    checked = program_of(manifest.program)
    if TRIPLE not in checked.relations:
        raise error("TL1416", f"the state `{state}` is not one of triples", help="`tidelog state` tells what it holds")
    return GraphProgram.of(replace(checked, warnings=()))


def _refuse_two_programs(data: Any, program: GraphProgram, stored: GraphProgram, state: Any) -> None:
    if data is not None:
        raise error("TL1415", f"there is a graph in `{state}` already",
                    help="change it with update, or choose another directory")  # fmt: skip
    if program.merged and not stored.merged:
        raise error("TL1415", f"the graph in `{state}` was not made with representatives",
                    help="make another one: materialise --same-as representatives")  # fmt: skip
    if program.rules.items or program.axioms or program.ruleset is not None:
        raise error("TL1415", f"the graph in `{state}` has its own rules and ontology",
                    help="change them with update(rules=…, insert_ontology=…, delete_ontology=…)")  # fmt: skip


def _columns(texts: Any, triples: Words) -> dict[str, Any]:
    return {name: texts(triples[:, i]) for i, name in enumerate(TABLE_COLUMNS)}
