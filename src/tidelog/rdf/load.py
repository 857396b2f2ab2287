"""Triples from wherever a user has them, as words: files, rdflib graphs, tables of texts, rows of texts.

What is always true: the words are those of canonical N-Triples texts (`terms.py`); malformed lines are bad rows, and a
text in a table that is no term is an error. Of N-Quads and TriG, all graphs are read as one: names of graphs are left
out.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.io.bad_rows import BadRows
from tidelog.plan.rewrites.specialise import TYPE, Key
from tidelog.rdf.files import LINES, format_of, opened
from tidelog.rdf.grammar import Malformed, parse_lines
from tidelog.rdf.lines import LineReader
from tidelog.rdf.terms import iri, literal
from tidelog.rdf.threads import read_files
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

SAMPLE = 1 << 20  # bytes of a file
SAMPLED = 16  # files
FREQUENT = 0.0005
MOST = 200
TABLE_COLUMNS = ("subject", "predicate", "object")


def read_all(
    source: Any, symbols: Symbols, bad: BadRows, keep_labels: bool = False, threads: int = 1
) -> Iterator[Words]:
    """Words of (subject, predicate, object), some at a time, of a source or of each of several."""
    if isinstance(source, (str, os.PathLike)):
        for words in read_files(files_of(source), symbols, bad, threads, keep_labels):
            yield words[:, :3]
    elif hasattr(source, "namespace_manager"):
        yield _rows((_rdflib_terms(triple) for triple in source), symbols)
    elif isinstance(source, (pa.Table, pa.RecordBatch)) or hasattr(source, "columns"):
        yield from _table(source, symbols)
    elif isinstance(source, Iterable):
        several = list(source)
        if several and not isinstance(several[0], tuple):
            for one in several:
                yield from read_all(one, symbols, bad, keep_labels, threads)
        else:
            yield _checked_rows(several, symbols)
    else:
        raise error("TL1411", f"a {type(source).__name__} is no source of triples",
                    help="give a file's name, an rdflib graph, a table, or rows of three texts")  # fmt: skip


def frequent_keys(source: Any) -> tuple[Key, ...]:
    """The predicates and classes that are frequent in the beginnings of some files of lines: they are worth relations
    of their own, whether rules name them or not."""
    symbols, bad = Symbols(load()), BadRows(skip=True)
    sample = [np.zeros((0, 3), np.int64)]
    for path in [path for path in _paths(source) if format_of(path) in LINES][:SAMPLED]:
        with opened(path) as stream:
            text = stream.read(SAMPLE)
        lines = text[: text.rfind(b"\n") + 1]
        if lines:
            sample.append(LineReader(symbols, bad, str(path), format_of(path)).words(lines, 1)[:, :3])
    triples = np.concatenate(sample)
    typed = triples[:, 1] == symbols.id(TYPE)
    found: list[tuple[int, Key]] = []
    for ids, key in ((triples[~typed, 1], Key), (triples[typed, 2], lambda term: Key(TYPE, term))):
        terms, counts = np.unique(ids, return_counts=True)
        found += [(int(n), key(symbols.text(int(t)))) for t, n in zip(terms, counts, strict=True)]
    found.sort(key=lambda entry: (-entry[0], entry[1].predicate, entry[1].of or ""))
    return tuple(key for count, key in found[:MOST] if count >= FREQUENT * len(triples))


def _paths(source: Any) -> list[Path]:
    if isinstance(source, (str, os.PathLike)):
        return files_of(source)
    return [path for one in source for path in _paths(one)] if isinstance(source, list) else []


def files_of(source: str | os.PathLike[str]) -> list[Path]:
    """The files that a name or a pattern stands for."""
    path = Path(source)
    if path.is_dir():
        return sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    found = [Path(name) for name in sorted(glob.glob(str(path)))]
    if not found:
        raise error("TL1404", f"there is no file `{path}`")
    return found


def _rdflib_terms(triple: Any) -> tuple[str, str, str]:
    return _rdflib_term(triple[0]), _rdflib_term(triple[1]), _rdflib_term(triple[2])


def _rdflib_term(term: Any) -> str:
    match type(term).__name__:
        case "URIRef":
            return iri(str(term))
        case "BNode":
            return f"_:{term}"
        case "Literal":
            if term.language:
                return literal(str(term), language=str(term.language))
            return literal(str(term), str(term.datatype)) if term.datatype else literal(str(term))
    raise error("TL1412", f"rdflib's {type(term).__name__} is no term of a triple")


def _table(source: Any, symbols: Symbols) -> Iterator[Words]:
    """A pandas, polars or Arrow table with the columns subject, predicate and object."""
    if not isinstance(source, (pa.Table, pa.RecordBatch)):
        source = (
            source.to_arrow() if hasattr(source, "to_arrow") else pa.Table.from_pandas(source, preserve_index=False)
        )
    missing = [name for name in TABLE_COLUMNS if name not in source.schema.names]
    if missing:
        raise error("TL1411", f"a table of triples has a column `{missing[0]}`",
                    help=f"its columns are {', '.join(TABLE_COLUMNS)}; others are left out")  # fmt: skip
    columns = [source.column(name).cast(pa.large_string()) for name in TABLE_COLUMNS]
    distinct = pa.chunked_array([pa.chunked_array(c).unique() if isinstance(c, list) else c.unique() for c in columns])
    if distinct.null_count:
        raise error("TL1412", "a triple of a table lacks a term")
    _check_terms(columns)
    yield np.stack([symbols.encode(column) for column in columns], axis=1)


def _check_terms(columns: list[Any]) -> None:
    """An error unless every text is a canonical term in a position that it may have."""
    for position, column in enumerate(columns):
        _check_texts(column.unique().to_pylist(), position)


def _check_texts(texts: list[str], position: int) -> None:
    shapes = (b"%s <x:p> <x:o> .\n", b"<x:s> %s <x:o> .\n", b"<x:s> <x:p> %s .\n")
    lines = [shapes[position] % text.encode() for text in texts]
    for text, found in zip(texts, parse_lines(lines, "nt"), strict=False):
        if isinstance(found, Malformed) or found[position] != text:
            raise error("TL1412", f"`{text}` is no {TABLE_COLUMNS[position]} of a triple in canonical N-Triples",
                        help='terms are texts such as <http://a.org/x>, "text"@en, _:label')  # fmt: skip


def _checked_rows(rows: list[Any], symbols: Symbols) -> Words:
    for row in rows:
        if not (isinstance(row, tuple) and len(row) == 3 and all(isinstance(term, str) for term in row)):
            raise error("TL1411", f"{row!r} is no triple", help="give three texts: subject, predicate, object")
    for position in range(3):
        _check_texts(list({row[position] for row in rows}), position)
    return _rows(rows, symbols)


def _rows(rows: Iterable[tuple[str, str, str]], symbols: Symbols) -> Words:
    texts = [term for row in rows for term in row]
    return np.asarray(symbols.encode(pa.array(texts, pa.large_string())), np.int64).reshape(-1, 3)
