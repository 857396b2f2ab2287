"""`.printsize` and `.limitsize`: how many tuples a relation has, and how many end its evaluation."""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.lang import tree


def size_line(relation: str, count: int) -> str:
    """What `.printsize` prints, as Soufflé does."""
    return f"{relation}\t{count}"


def size_limits(directives: Iterable[tree.Directive]) -> dict[str, int]:
    """The limit of each relation with a `.limitsize`: an iteration that ends with that many tuples is the last."""
    return {d.relation: int(d.param("n") or 0) for d in directives if d.kind == "limitsize"}
