"""Rows that workers hold, to be brought here when somebody looks at them: to its readers, an array.

What is always true: their number is known; what was brought once stays here. Cost: nothing until then, and then all of
them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tidelog.evaluate.bindings import Words


class FarRows:
    """See the module's docstring."""

    dtype = np.dtype(np.int64)
    ndim = 2

    def __init__(self, count: int, arity: int, fetch: Callable[[], Words]) -> None:
        self._count, self._arity, self._fetch = count, arity, fetch

    @cached_property
    def rows(self) -> Words:
        return self._fetch()

    def __len__(self) -> int:
        return self._count

    @property
    def shape(self) -> tuple[int, int]:
        return self._count, self._arity

    @property
    def nbytes(self) -> int:
        """Of what is here."""
        return self.rows.nbytes if "rows" in vars(self) else 0

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.rows.astype(dtype or self.rows.dtype, copy=False)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.rows.astype(dtype, copy=copy)
