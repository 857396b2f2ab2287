"""Reading and writing cost little more than Arrow's own CSV reader and writer."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from tidelog.io import BadRows, read_facts, write_relation

ROWS = 1_000_000


def best(action, repeats=3):
    """The processor time of all threads, because other tests run beside this one."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    numbers = np.random.default_rng(1).integers(0, 100_000, (2, ROWS))
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    csv.write_csv(pa.table({"x": numbers[0], "y": numbers[1]}), folder / "edge.facts", options)
    texts = pa.array([f"symbol{i}" for i in range(100_000)])
    csv.write_csv(pa.table({"x": texts.take(numbers[0]), "y": texts.take(numbers[1])}), folder / "name.facts", options)
    return folder


@pytest.mark.parametrize(("relation", "kind"), [("edge", "number"), ("name", "symbol")])
def test_a_million_facts_are_read_in_three_times_the_time_of_arrow(relation, kind, folder, declared):
    info, types, directive = declared(f".decl {relation}(x: {kind}, y: {kind})\n.input {relation}")
    path = folder / f"{relation}.facts"
    plain = best(lambda: csv.read_csv(path, csv.ReadOptions(column_names=["x", "y"]), csv.ParseOptions(delimiter="\t")))
    ours = best(lambda: read_facts(info, types, directive, folder, BadRows()))
    assert read_facts(info, types, directive, folder, BadRows()).num_rows == ROWS
    assert ours <= 3 * plain, f"{ours:.3f} s against {plain:.3f} s"


def test_a_few_malformed_lines_do_not_slow_down_the_rest(folder, declared, tmp_path):
    info, types, directive = declared(".decl edge(x: number, y: number)\n.input edge")
    lines = (folder / "edge.facts").read_bytes().split(b"\n")
    lines[500_000] = b"bad\t1"
    (tmp_path / "edge.facts").write_bytes(b"\n".join(lines))
    bad = BadRows(skip=True)
    plain = best(lambda: read_facts(info, types, directive, folder, BadRows()))
    ours = best(lambda: read_facts(info, types, directive, tmp_path, bad), 1)
    assert bad.count == 1
    assert "500001 | bad 1" in bad.report()[0].render()
    assert ours <= 20 * plain, f"{ours:.3f} s against {plain:.3f} s"


def test_a_million_tuples_are_written_sorted_in_three_times_the_time_of_arrow(folder, declared, tmp_path):
    info, types, directive = declared(".decl edge(x: number, y: number)\n.output edge")
    table = read_facts(info, types, None, folder, BadRows())
    options = csv.WriteOptions(include_header=False, delimiter="\t")
    plain = best(lambda: csv.write_csv(table, tmp_path / "plain.csv", options))
    ours = best(lambda: write_relation(info, types, table, directive, tmp_path))
    assert (tmp_path / "edge.csv").stat().st_size == (folder / "edge.facts").stat().st_size
    assert ours <= 3 * plain, f"{ours:.3f} s against {plain:.3f} s"
