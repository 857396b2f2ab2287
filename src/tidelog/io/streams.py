"""Opening the files that facts are read from, compressed or not."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from tidelog.errors import TidelogError, error
from tidelog.io.place import Place

_GZIP = b"\x1f\x8b"
_OTHER_SUFFIXES = (
    ".facts",
    ".facts.gz",
    ".csv",
    ".csv.gz",
    ".tsv",
    ".json",
    ".parquet",
    ".arrow",
    ".feather",
    ".sqlite",
)


@contextmanager
def opened(place: Place) -> Iterator[BinaryIO]:
    """The bytes of an input, decompressed if they are compressed, whatever the file is called."""
    try:
        if place.path is None:
            yield _decompressed(_standard_input())
            return
        with open(place.path, "rb") as file:
            yield _decompressed(file)
    except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise error("TL0639", f"`{place.shown}` is damaged: {problem}", place.span) from None
    except OSError as problem:
        raise cannot_open(place, problem) from None


def _standard_input() -> BinaryIO:
    stream = getattr(sys.stdin, "buffer", None)
    return stream if stream is not None else io.BytesIO(sys.stdin.read().encode())


def _decompressed(file: BinaryIO) -> BinaryIO:
    buffered = file if hasattr(file, "peek") else io.BufferedReader(cast(io.RawIOBase, file))
    return cast(BinaryIO, gzip.GzipFile(fileobj=buffered)) if buffered.peek(2)[:2] == _GZIP else buffered  # type: ignore[attr-defined]


def cannot_open(place: Place, problem: OSError) -> TidelogError:
    """The error for an input that cannot be opened."""
    reason = (problem.strerror or str(problem)).lower()
    if isinstance(problem, FileNotFoundError):
        reason = "there is no such file"
        if place.path is not None and not place.path.parent.is_dir():
            reason = f"there is no folder `{place.path.parent}`"
    return error("TL0620", f"cannot open fact file `{place.shown}`: {reason}", place.span, help=_advice(place))


def _advice(place: Place) -> str:
    relation = place.relation
    if place.path is not None:
        for suffix in _OTHER_SUFFIXES:
            other = place.path.with_name(relation + suffix)
            if other != place.path and other.is_file():
                return f'`{other}` is there: write `.input {relation}(filename="{other.name}")` to read it'
    return (
        f"put the facts of `{relation}` there, name another folder with -F, "
        f"or another file with `.input {relation}(filename=…)`"
    )
