"""Files that tasks read by themselves: every line and every row once, however they are cut."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.spark import files

PAIRS = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("ab\n", max_size=12)), st.integers(1, 9), st.booleans())
def test_stretches_of_a_text_are_its_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ended: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_text("\n".join(lines) + "\n" * ended)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "TEXT_STRETCH", size)
        parts = [files.text_of(stretch) for stretch in files.text_stretches(path)]
    assert b"".join(parts) == path.read_bytes()
    assert all(part.endswith(b"\n") for part in parts[:-1] if part and b"".join(parts).endswith(b"\n"))


def test_stretches_of_parquet_are_its_row_groups(tmp_path: Path) -> None:
    pq.write_table(PAIRS, tmp_path / "one.parquet", row_group_size=2)
    pq.write_table(PAIRS, tmp_path / "two.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".one.parquet.crc").touch()
    found = files.parquet_stretches(tmp_path, ["a", "b"])
    assert found is not None
    assert len(found) == 3
    rows = [row for stretch in found for batch in files.batches_of(stretch, ["b", "a"]) for row in batch.to_pylist()]
    assert rows == 2 * [{"b": b, "a": a} for a, b in ((1, "x"), (2, "y"), (3, "z"))]


@pytest.mark.parametrize("what", ["partitioned", "nested", "not parquet", "another schema"])
def test_what_spark_reads_in_its_own_way_is_left_to_spark(tmp_path: Path, what: str) -> None:
    pq.write_table(PAIRS, tmp_path / "one.parquet")
    match what:
        case "partitioned":
            (tmp_path / "c=1").mkdir()
            pq.write_table(PAIRS, tmp_path / "c=1" / "two.parquet")
        case "nested":
            nested = PAIRS.append_column("c", pa.array([[1], [2], [3]]))
            pq.write_table(nested, tmp_path / "two.parquet")
        case "not parquet":
            (tmp_path / "two.parquet").write_text("a,b\n")
        case "another schema":
            pq.write_table(PAIRS.rename_columns(["a", "c"]), tmp_path / "two.parquet")
    assert files.parquet_stretches(tmp_path, ["a", "b"]) is None
