"""Floats as words: one zero, one NaN.

What is always true of a word of the store that stands for a float: it is neither -0.0 nor a NaN but the one of
`values.NAN`. Whatever makes such words from floats that come from elsewhere makes them here (in the kernels, by
`float_word` of `store/kernels/arithmetic.py`); so equal floats are equal words, in identity tables, indexes,
comparisons and states alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.values import NAN


def float_words(floats: Any) -> NDArray[np.int64]:
    """The words of an array of floats."""
    found = np.asarray(floats, np.float64) + 0.0  # no -0.0
    odd = np.isnan(found)
    if odd.any():
        found[odd] = NAN
    return found.view(np.int64)
