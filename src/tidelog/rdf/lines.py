"""N-Triples and N-Quads as words, a window of lines at a time.

Lines that are plainly canonical are split and numbered by kernels; every other line goes to the grammar, and so does
the text of its error. What is always true: the words are those of the terms' canonical texts, whichever way a line
took. Cost: memory of a window besides the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.plain import dataclass
from tidelog.rdf.grammar import Malformed, parse_lines
from tidelog.store.memory import Array
from tidelog.store.native import load
from tidelog.store.symbols import Symbols
from tidelog.store.triple_lines import Split, line_ends, split_lines

WINDOW = 8 << 20


@dataclass
class LineReader:
    """Reads lines of a file, `shown` in messages.

    Labels of blank nodes get `scope` in front, so that those of two files are never one; without a scope they are kept.
    """

    symbols: Symbols
    bad: BadRows
    shown: str
    suffix: str = "nt"
    scope: str = ""

    def read(self, stream: BinaryIO, first: int = 1) -> Iterator[Array]:
        """Words of (subject, predicate, object, graph), some at a time; `first` is the number of the first line."""
        while window := stream.read(WINDOW):
            window += stream.readline()
            yield self.words(window, first)
            first += line_ends(window)

    def words(self, window: bytes, first: int) -> Array:
        """The words of whole lines."""
        split = split_lines(load(), window, graphs=self.suffix == "nq")
        odd = self._odd(split, first)
        if not len(split.codes):
            return odd
        ids = np.append(self._numbers(split), self.symbols.id(""))  # the last is what a code of -1 means
        plain = np.full((len(split.codes), 4), ids[-1], np.int64)
        plain[:, : split.codes.shape[1]] = ids[split.codes]
        return np.concatenate([plain, odd]) if len(odd) else plain

    def _numbers(self, split: Split) -> Array:
        """The ids of the terms of plain lines."""
        if not self.scope:
            return self.symbols.encode_places(split.text, split.terms)
        blank = split.text[split.terms[:, 0]] == ord("_")
        if not blank.any():
            return self.symbols.encode_places(split.text, split.terms)
        ids = np.empty(len(split.terms), np.int64)
        ids[~blank] = self.symbols.encode_places(split.text, np.ascontiguousarray(split.terms[~blank]))
        places = split.terms[blank].tolist()
        ids[blank] = self._encoded([self._scoped(split.text[begin:end].tobytes().decode()) for begin, end in places])
        return ids

    def _odd(self, split: Split, first: int) -> Array:
        """The words of the lines that are not plain; those that are malformed are bad rows."""
        if not len(split.odd):
            return np.zeros((0, 4), np.int64)
        places = split.odd.tolist()
        lines = [split.text[begin:end].tobytes() for begin, end in places]
        terms: list[str] = []
        for found in parse_lines(lines, self.suffix):
            if isinstance(found, Malformed):
                begin, _ = places[found.line - 1]
                number = first + int(np.count_nonzero(split.text[:begin] == ord("\n")))
                text = lines[found.line - 1].decode(errors="replace").rstrip("\r\n")
                self.bad.add("TL1402", found.message, FactLine(self.shown, number, text), found.start, found.end)
            else:
                terms += map(self._scoped, found)
        return self._encoded(terms).reshape(-1, 4)

    def _scoped(self, term: str) -> str:
        return f"_:{self.scope}{term[2:]}" if self.scope and term.startswith("_:") else term

    def _encoded(self, terms: list[str]) -> Array:
        return self.symbols.encode(pa.array(terms, pa.string()))
