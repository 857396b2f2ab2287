"""`.printsize`: how many tuples a relation has."""

from __future__ import annotations


def size_line(relation: str, count: int) -> str:
    """What `.printsize` prints, as Soufflé does."""
    return f"{relation}\t{count}"
