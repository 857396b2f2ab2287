"""Pieces of a stored relation: together they are the relation, each tuple once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tidelog import Session, TidelogError
from tidelog.state import snapshot
from tidelog.state.pieces import read_piece, relation_pieces
from tidelog.state.reader import read_relation

PROGRAM = """
    .decl edge(a: number, b: number)
    .input edge
    .decl path(a: number, b: number)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Row groups of three tuples, and changes in two epochs."""
    monkeypatch.setattr(snapshot, "ROW_GROUP", 3)
    with Session(PROGRAM, state=tmp_path / "s") as s:
        s.bootstrap({"edge": [(i, i + 1) for i in range(8)]})
        s.update(delete={"edge": [(3, 4)]}, insert={"edge": [(20, 21)]})
        s.update(insert={"edge": [(3, 4), (8, 9)]}, delete={"edge": [(20, 21)]})
    return tmp_path / "s"


@pytest.mark.parametrize("epoch", [None, 1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 16])
def test_pieces_together_are_the_relation(state: Path, epoch: int | None, most: int) -> None:
    pieces = relation_pieces(state, "path", epoch, most)
    assert len(pieces) == {1: 1, 2: 2, 16: 12}[most] + (most > 1 and epoch != 1)
    found = pa.concat_tables(table for piece in pieces for table in read_piece(state, piece))
    expected = read_relation(state, "path", epoch)
    order = [("a", "ascending"), ("b", "ascending")]
    assert found.sort_by(order).equals(expected.sort_by(order))


def test_a_file_that_was_compacted_away_under_a_piece_says_to_read_again(state: Path) -> None:
    pieces = relation_pieces(state, "path", None, 16)
    assert pieces[0].stored is not None
    (state / pieces[0].stored.snapshot.name).unlink()
    with pytest.raises(TidelogError, match="TL1314"):
        list(read_piece(state, pieces[0]))
