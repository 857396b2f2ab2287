"""What the DataFrame executor says about facts that cannot be, and about changes that change nothing."""

from __future__ import annotations

from typing import Any

import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.spark.dataframe import small

PROGRAM = ".decl p(x: number, u: unsigned)\n.input p\n.decl q(x: number)\nq(x) :- p(x, _).\n"
SCHEMA = "x bigint, u bigint"


def test_nulls_negative_unsigned_numbers_and_needless_changes_are_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "MOST_FACTS", -1)
    with tidelog.Session(PROGRAM, spark=spark, executor="dataframe", strict=True) as s:
        with pytest.raises(TidelogError, match="attribute `x`: null is not a value"):
            s.bootstrap({"p": spark.createDataFrame([(None, 1)], SCHEMA)})
        with pytest.raises(TidelogError, match="attribute `u`: -1 is negative"):
            s.bootstrap({"p": spark.createDataFrame([(1, -1)], SCHEMA)})
        s.bootstrap({"p": spark.createDataFrame([(1, 1)], SCHEMA)})
        with pytest.raises(TidelogError) as raised:
            s.update(insert={"p": [(1, 1)]}, delete={"p": [(2, 2), (3, 3)]})
        assert raised.value.codes == ("TL1105", "TL1105")
        assert "2 facts of relation `p` were to be deleted and are not there" in str(raised.value)
        assert (s.epoch, [tuple(row) for row in s["q"].collect()]) == (1, [(1,)])
