"""Profiles of sessions on Spark: by a resident worker, by DataFrame operations, and by neither while all is small."""

from __future__ import annotations

from typing import Any

import pytest

from tidelog import Profile, Session
from tidelog.spark.dataframe import small

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
COPY, STEP = "path(x, y) :- edge(x, y).", "path(x, z) :- path(x, y), edge(y, z)."
CHAIN = [(1, 2), (2, 3), (3, 4)]


def derivations(profile: Profile | None) -> dict[str, int]:
    assert profile is not None
    told = (total for total in profile.totals() if total.task.stage in ("rules", "other work"))
    return {total.task.text: total.derivations for total in told}


@pytest.mark.parametrize("executor", ["columnar", "dataframe"])
def test_a_profile_comes_from_where_the_work_is_done(spark: Any, executor: str) -> None:
    with Session(PROGRAM, spark=spark, executor=executor, profile=True) as s:
        begun, after = s.bootstrap({"edge": CHAIN}).profile, s.update(insert={"edge": [(4, 5)]}).profile
    assert begun is not None
    assert derivations(begun) == {COPY: 3, STEP: 3}
    assert {name: size.tuples for name, size in begun.relations.items()} == {"edge": 3, "path": 6}
    assert begun.relations["path"].total > 0
    assert after is not None
    assert (after.epoch, after.strategy, after.relations["path"].tuples) == (2, "update", 10)
    assert "update of path" in derivations(after)


def test_frames_have_a_profile_of_their_own(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "MOST_FACTS", -1)
    with Session(PROGRAM, spark=spark, executor="dataframe", strategy="update-paper", profile=True) as s:
        begun, after = s.bootstrap({"edge": CHAIN[:2]}).profile, s.update(delete={"edge": [(1, 2)]}).profile
    told = "telling new tuples from known ones: path"
    assert derivations(begun) == {COPY: 2, STEP: 1, told: 0}
    assert begun is not None
    assert {total.task.text: total.tuples for total in begun.totals()}[told] == 3
    assert {name: (size.tuples, size.bytes) for name, size in begun.relations.items()} == {
        "edge": (2, {}), "path": (3, {}),
    }  # fmt: skip
    assert begun.seconds > sum(total.seconds for total in begun.totals()) > 0
    assert after is not None
    assert derivations(after) == {"update of path": 0}
