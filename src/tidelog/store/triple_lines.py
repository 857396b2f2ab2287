"""Lines of N-Triples and N-Quads, split into terms by the kernel (`kernels/triples.py`).

What is always true: the lines of a text are plain or odd; a plain line's terms are canonical, and the places of equal
terms may differ. Cost: forty bytes for each line besides the text, and what the kernel costs.
"""

from __future__ import annotations

import string
from ctypes import addressof
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidelog.store import codes
from tidelog.store.blocks import LinesBlock
from tidelog.store.memory import Array, address
from tidelog.store.native import Kernels

_ALPHANUMERIC = string.ascii_letters + string.digits
_HARMLESS = _ALPHANUMERIC + "-._~!$&'()*+,;="
_TEXT = "".join(map(chr, (c for c in range(0x20, 0x7F) if chr(c) not in '"\\')))
_MEMBERS = {
    codes.IN_HOST: _HARMLESS,
    codes.IN_PATH: _HARMLESS + ":@/?",
    codes.IN_SCHEME: _ALPHANUMERIC + "+-.",
    codes.IN_LABEL: _ALPHANUMERIC + "_",
    codes.IN_TEXT: _TEXT,
    codes.IN_ESCAPE: 'tbnrf"\\',
    codes.IS_LETTER: string.ascii_letters,
    codes.IS_SMALL: string.ascii_lowercase,
}


def _classes(beyond_ascii: bool) -> NDArray[np.uint8]:
    """For each byte, the classes it is in; bytes beyond ASCII can only be in the texts of literals."""
    classes = np.zeros(256, np.uint8)
    for kind, members in _MEMBERS.items():
        classes[np.frombuffer(members.encode(), np.uint8)] |= kind
    if beyond_ascii:
        classes[0x80:] |= codes.IN_TEXT
    return classes


_CACHED, _LINE_END = 1 << 16, ord("\n")
_ASCII, _UTF8 = _classes(False), _classes(True)


class Split(NamedTuple):
    """What a text of lines has: `terms[codes]` are the places (begin, end) of the terms of its plain lines, and `odd`
    those of its other lines. A code of -1 stands for the graph name that a line of N-Quads does not have."""

    text: NDArray[np.uint8]
    terms: Array
    codes: NDArray[np.int32]
    odd: Array


def line_ends(text: bytes) -> int:
    """How many line ends a text has: a part that stays in the cache at a time, four times as fast as `bytes.count`."""
    data = np.frombuffer(text, np.uint8)
    return sum(int(np.count_nonzero(data[i : i + _CACHED] == _LINE_END)) for i in range(0, len(data), _CACHED))


def split_lines(kernels: Kernels, text: bytes, graphs: bool) -> Split:
    """Split whole lines, of three terms, or with `graphs` of three or four."""
    if not text.endswith(b"\n"):
        text += b"\n"
    data = np.frombuffer(text, np.uint8)
    lines, width = line_ends(text), 4 if graphs else 3
    terms = np.empty((lines * width, 2), np.int64)
    terms_of_lines = np.empty((lines, width), np.int32)
    odd = np.empty((lines, 2), np.int64)
    recent = np.zeros((codes.RECENT_TERMS, 3), np.int64)
    classes = _UTF8 if not text.isascii() and _is_utf8(text) else _ASCII
    block = LinesBlock(
        text=address(data), length=len(text), classes=address(classes), terms=address(terms),
        codes=address(terms_of_lines), odd=address(odd), graphs=graphs, recent=address(recent),
    )  # fmt: skip
    plain = kernels.split_lines(addressof(block))
    return Split(data, terms[: block.nterm], terms_of_lines[:plain], odd[: block.nodd])


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
