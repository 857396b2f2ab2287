"""`sin`, `cos`, `log`, `exp` and their like.

Each takes a float and gives one; where there is none, NaN, as C has it. Of a number or an unsigned it is the float's
value without its fraction, and the nearest number there is if that is too large, as `to_number` has it: `exp(1)` is 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidelog.functors import MATHEMATICAL
from tidelog.values import NUMBER_MAX, NUMBER_MIN, UNSIGNED_MAX, Kind

_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan",
          "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[float], Any]] = {name: getattr(np, _NUMPY.get(name, name)) for name in MATHEMATICAL}
_RANGES = {Kind.NUMBER: (NUMBER_MIN, NUMBER_MAX), Kind.UNSIGNED: (0, UNSIGNED_MAX)}


def function(op: str, of: Kind) -> Callable[[Any], Any]:
    """The functor over Python values of a kind."""
    of_float = _FUNCTIONS[op]

    def value(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(of_float(float(x)))

    if of is Kind.FLOAT:
        return value
    least, most = _RANGES[of]
    return lambda x: _whole(value(x), least, most)


def _whole(value: float, least: int, most: int) -> int:
    if value != value:
        return 0
    return most if value >= most else least if value <= least else int(value)
