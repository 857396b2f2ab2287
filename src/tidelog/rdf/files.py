"""RDF files of any format, compressed or not, as words of a database."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import pyarrow as pa

from tidelog.errors import error
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.rdf.grammar import FORMATS, Malformed, parse
from tidelog.rdf.lines import LineReader
from tidelog.store.memory import Array
from tidelog.store.symbols import Symbols

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}
LINES = ("nt", "nq")
AT_ONCE = 1 << 16  # triples of other formats


def read_triples(path: str | Path, symbols: Symbols, bad: BadRows, keep_labels: bool = False) -> Iterator[Array]:
    """Words of (subject, predicate, object, graph), some at a time; the default graph is the empty text.

    The suffix says the format (`.nt`, `.nq`, `.ttl`, `.trig`, `.rdf`, `.owl`, `.jsonld`), before it perhaps how the
    file is compressed. Blank nodes of two files are never the same, unless `keep_labels`, for files that were written
    from a database. Malformed lines of N-Triples and N-Quads are bad rows; other formats end at the first error.
    """
    path = Path(path)
    suffix = format_of(path)
    scope = "" if keep_labels else scope_of(path)
    with opened(path) as stream:
        if suffix in LINES:
            yield from LineReader(symbols, bad, str(path), suffix, scope).read(stream)
        else:
            yield from _read_other(stream, path, suffix, scope, symbols, bad)
    bad.check()


def format_of(path: Path) -> str:
    """The format that a file's name says, a key of FORMATS."""
    suffixes = [s for s in path.suffixes if s not in COMPRESSED]
    suffix = suffixes[-1][1:].lower() if suffixes else ""
    if suffix not in FORMATS:
        if not suffix and not path.exists():
            raise error("TL1404", f"there is no file or state directory `{path}`")
        raise error("TL1403", f"`{path}`: no RDF format has the suffix `.{suffix}`",
                    help=f"there are {', '.join('.' + name for name in FORMATS)}")  # fmt: skip
    return suffix


def scope_of(path: Path) -> str:
    """What sets the blank nodes of a file apart from those of others, the same whoever reads it, and whatever part."""
    return f"f{hashlib.blake2s(str(path.resolve()).encode(), digest_size=6).hexdigest()}-"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed as its name says."""
    with readable(path), open(path, "rb") as file:
        match COMPRESSED.get(path.suffix):
            case None:
                yield file
            case "gzip":
                yield cast(BinaryIO, gzip.GzipFile(fileobj=file))
            case "bz2":
                yield cast(BinaryIO, bz2.BZ2File(file))
            case other:
                yield _decompressed(file, other)


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Says of which file what cannot be read is."""
    try:
        yield
    except FileNotFoundError:
        raise error("TL1404", f"there is no file `{path}`") from None
    except (gzip.BadGzipFile, zlib.error, EOFError, OSError, pa.ArrowException) as problem:
        raise error("TL1404", f"`{path}` cannot be read: {str(problem).partition(chr(10))[0]}") from None


def _decompressed(file: BinaryIO, how: str) -> BinaryIO:
    if how == "xz":
        import lzma

        return cast(BinaryIO, lzma.LZMAFile(file))
    return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(file, how)))


def _read_other(
    stream: BinaryIO, path: Path, suffix: str, scope: str, symbols: Symbols, bad: BadRows
) -> Iterator[Array]:
    """Formats whose lines depend on each other: the grammar reads them all."""
    terms: list[str] = []
    for found in parse(stream, suffix, base=path.resolve().as_uri()):
        if isinstance(found, Malformed):
            text = _line(path, found.line)
            bad.add("TL1402", found.message, FactLine(str(path), found.line, text), found.start, found.end)
            continue
        terms += (f"_:{scope}{term[2:]}" if scope and term.startswith("_:") else term for term in found)
        if len(terms) >= 4 * AT_ONCE:
            yield _words(terms, symbols)
            terms = []
    yield _words(terms, symbols)


def _line(path: Path, number: int) -> str:
    with opened(path) as stream:
        for at, line in enumerate(stream, 1):
            if at == number:
                return line.decode(errors="replace").rstrip("\r\n")
    return ""


def _words(terms: list[str], symbols: Symbols) -> Array:
    return np.asarray(symbols.encode(pa.array(terms, pa.string())), np.int64).reshape(-1, 4)
