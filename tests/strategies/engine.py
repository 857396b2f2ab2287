"""Running the engine on a random program, with values as the oracle has them.

Facts go in and results come out through the store's own dictionaries, word by word: the readers and writers of files
have tests of their own.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

import oracle
from strategies.programs import Example
from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.analysis.types import AdtType, RecordType, RelationInfo, Type
from tidelog.errors import Report
from tidelog.evaluate.bindings import Words
from tidelog.lang.load import parse_program
from tidelog.local import LocalSession, Settings
from tidelog.values import Kind

Rows = set[tuple[Any, ...]]

ONE_NAN = 0x7FF8000000000000


def checked_program(text: str) -> Checked:
    report = Report()
    return check(parse_program(text, report), report)


def evaluate(example: Example, checked: Checked, threads: int = 1) -> dict[str, Rows]:
    """The relations of the program, which is checked already, after a batch run."""
    session = LocalSession(checked, Settings("batch", threads=threads))
    session.bootstrap_words({name: words(session, name, rows) for name, rows in example.facts.items()})
    return {name: contents(session, name) for name in checked.relations}


def words(session: LocalSession, name: str, rows: Rows) -> Words:
    info = session.checked.relations[name]
    declared, database = column_types(session, info), session._open().database
    found = [[word_of(v, t, database) for v, t in zip(row, declared, strict=True)] for row in rows]
    return np.array(found, np.int64).reshape(len(rows), info.arity)


def contents(session: LocalSession, name: str) -> Rows:
    declared, database = column_types(session, session.checked.relations[name]), session.ready().database
    words = session.ready().rows(name).astype(np.int64).tolist()
    found = {tuple(value_of(w, t, database) for w, t in zip(row, declared, strict=True)) for row in words}
    assert len(found) == len(words), f"{name} holds a tuple twice"
    return found


def column_types(run: Any, info: RelationInfo) -> list[Type]:
    return [run.checked.types.types[name] for name in info.types]


def word_of(value: Any, declared: Type, database: Any) -> int:
    if isinstance(declared, RecordType):
        return 0 if value is None else packed([*zip(value, declared.types, strict=True)], len(value), database)
    if isinstance(declared, AdtType):
        branch = declared.branches[value[0]]
        if declared.is_enum:
            return branch.tag
        fields = [*zip(value[1:], branch.types, strict=True)]
        return packed(fields, declared.width, database, (branch.tag,))
    if declared.kind is Kind.SYMBOL:
        return int(database.symbols.id(value))
    if declared.kind is Kind.FLOAT:
        return ONE_NAN if value == oracle.NAN else int(struct.unpack("q", struct.pack("d", value))[0])
    return int(value) - (2**64 if value >= 2**63 else 0)


def packed(fields: list[tuple[Any, Type]], width: int, database: Any, tag: tuple[int, ...] = ()) -> int:
    words = [*tag, *(word_of(v, t, database) for v, t in fields)]
    return int(database.records.pack(np.array([words + [0] * (width - len(words))], np.int64))[0])


def value_of(word: int, declared: Type, database: Any) -> Any:
    if isinstance(declared, RecordType):
        return None if word == 0 else unpacked(word, len(declared.types), declared.types, database)
    if isinstance(declared, AdtType):
        tag = word if declared.is_enum else int(database.records.unpack([word], declared.width)[0][0])
        branch = next(b for b in declared.branches.values() if b.tag == tag)
        if declared.is_enum:
            return (branch.name,)
        return (branch.name, *unpacked(word, declared.width, branch.types, database, first=1))
    if declared.kind is Kind.SYMBOL:
        return database.symbols.text(word)
    if declared.kind is Kind.FLOAT:
        found = oracle.one_float(struct.unpack("d", struct.pack("q", word))[0])
        assert word == word_of(found, declared, database), f"{word:x} is not the word of {found}"
        return found
    return word % 2**64 if declared.kind is Kind.UNSIGNED else word


def unpacked(word: int, width: int, types: tuple[Type, ...], database: Any, first: int = 0) -> tuple[Any, ...]:
    words = database.records.unpack([word], width)[0][first:].tolist()
    return tuple(value_of(w, t, database) for w, t in zip(words, types, strict=False))
