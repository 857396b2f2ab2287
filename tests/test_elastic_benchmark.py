"""The benchmark of elastic evaluation: what it promises of its records, on a workload that takes no time."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.elastic.__main__ import main
from benchmarks.elastic.engines import Unavailable, engine_options
from benchmarks.elastic.jobs import Choice, EpochKey, jobs
from benchmarks.elastic.report import filled
from benchmarks.elastic.runner import Bounds, Records, run_all, run_job
from benchmarks.elastic.summary import Results
from benchmarks.elastic.targets import Target, targets


def tiny_job(experiment):
    (job,) = jobs(Choice(["tiny"], ["update"], [experiment], [], 2, 1, True))
    return job


def test_a_quick_run_measures_every_epoch_and_its_strategies_agree(tmp_path, capsys):
    main(["--quick", "--strategies", "batch", "elastic", "--experiments", "cycles", "--out", str(tmp_path)])
    results = Results.of(Records(tmp_path / "elastic.jsonl").read())
    for strategy in ("batch", "elastic"):
        found = results.where(strategy=strategy)
        assert [r["status"] for r in found] == ["ok"] * 9  # the start, then two sets of two sizes out and in
        assert [r["facts"] for r in found] == [0, 5, 5, 5, 5, 20, 20, 20, 20]
    (agreement,) = [t for t in targets(results) if t.what == "figures on which strategies disagree"]
    assert agreement.value == 0
    assert "| figures on which strategies disagree | tiny | 0 | 0 | met |" in capsys.readouterr().out
    page = filled("before\n<!-- table: cycles -->\nold\n<!-- end -->\nafter", results)
    assert page.startswith("before\n<!-- table: cycles -->\n| workload |")
    assert "| tiny | elastic | 20 |" in page
    assert "old" not in page


def test_what_the_time_limit_cut_off_is_recorded_as_timeout(tmp_path):
    job = tiny_job("mixed")
    records = Records(tmp_path / "elastic.jsonl")
    assert run_job(job, records, Bounds(seconds=0.0)) == "timeout"
    found = records.read()
    assert [r["status"] for r in found] == ["timeout"] * 13
    assert [EpochKey(r["size"], r["number"], r["step"]) for r in found] == list(job.epochs())


def test_a_process_that_holds_too_much_memory_is_ended_and_recorded(tmp_path):
    records = Records(tmp_path / "elastic.jsonl")
    assert run_job(tiny_job("mixed"), records, Bounds(seconds=60.0, memory=1.0)) == "out of memory"
    assert {r["status"] for r in records.read()} == {"out of memory"}


def test_resuming_leaves_alone_what_has_ended(tmp_path):
    job = tiny_job("mixed")
    records = Records(tmp_path / "elastic.jsonl")
    run_job(job, records, Bounds(seconds=0.0))
    size = records.path.stat().st_size
    run_all([job], records, Bounds(seconds=0.0), resume=True)
    assert records.path.stat().st_size == size
    run_all([job], records, Bounds(seconds=0.0), resume=False)
    assert records.path.stat().st_size == 2 * size


def test_an_unknown_option_is_unavailable_and_not_ignored():
    with pytest.raises(Unavailable, match="telepathy"):
        engine_options({"telepathy": "on"})


def test_a_later_record_of_an_epoch_takes_the_place_of_an_earlier_one(tmp_path):
    records = Records(tmp_path / "elastic.jsonl")
    name = tiny_job("mixed").name()
    for seconds in (1.0, 2.0):
        records.append({**name, "size": 0, "number": 0, "step": "0", "seconds": seconds})
    assert len((tmp_path / "elastic.jsonl").read_text().splitlines()) == 2
    assert [r["seconds"] for r in records.read()] == [2.0]


def test_a_half_written_last_line_of_an_interrupted_run_is_left_out(tmp_path):
    records = Records(tmp_path / "elastic.jsonl")
    records.append({"run": "one"})
    with records.path.open("a") as file:
        file.write(json.dumps({"run": "two"})[:8])
    assert [r["run"] for r in records.read()] == ["one"]


@pytest.mark.parametrize(
    ("value", "strictly", "verdict"),
    [(1.0, False, "met"), (1.0, True, "MISSED"), (1.1, False, "MISSED"), (None, False, "not measured")],
)
def test_a_target_says_whether_it_is_met(value, strictly, verdict):
    assert Target("ratio", "tiny", value, 1.0, strictly=strictly).verdict == verdict
