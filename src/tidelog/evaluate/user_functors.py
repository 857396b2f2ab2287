"""Functors that the user wrote in Python: `.functor f(x: number): number` calls `f` of the functors module.

A function that accepts arrays is called once per batch; any other once per distinct combination of arguments.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tidelog.analysis.types import TypeSystem
from tidelog.errors import Report, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.functors import Fault, per_distinct
from tidelog.lang import tree
from tidelog.values import Kind

_NUMPY = {Kind.NUMBER: np.int64, Kind.UNSIGNED: np.uint64, Kind.FLOAT: np.float64}


def load_module(path: str | Path) -> dict[str, Callable[..., Any]]:
    """The functions of a Python file."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(f"tidelog_functors_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise error("TL0810", f"cannot load functors from {path}: there is no such Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise error("TL0811", f"{path} failed while it was loaded: {type(problem).__name__}: {problem}") from None
    return {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}


def check_functors(
    program: tree.Program, used: set[str], functions: Mapping[str, Callable[..., Any]], report: Report
) -> None:
    """Every functor that some rule calls has a Python function that takes as many arguments."""
    for decl in program.of(tree.FunctorDecl):
        if decl.name not in used:
            continue
        if decl.name not in functions:
            report.error("TL0812", f"functor `{decl.name}` has no Python function", decl.span,
                         help=f"define `def {decl.name}(...)` in a file and pass --functors file.py")  # fmt: skip
            continue
        try:
            inspect.signature(functions[decl.name]).bind(*range(len(decl.params)))
        except TypeError as problem:
            report.error("TL0813", f"the Python function `{decl.name}` does not fit its declaration: {problem}",
                         decl.span)  # fmt: skip
        except ValueError:
            pass  # built-in functions may have no signature


def kinds_of(decl: tree.FunctorDecl, types: TypeSystem) -> tuple[tuple[Kind, ...], Kind]:
    """The kinds of the parameters and of the result."""

    def kind(name: str) -> Kind:
        found = types.get(name)
        return found.kind if found is not None else Kind.SYMBOL

    return tuple(kind(p.type) for p in decl.params), kind(decl.result)


def call(context: Context, name: str, args: list[Words]) -> Words:
    """The functor over a batch."""
    kinds, result = context.functor_kinds[name]
    function = context.functors[name]
    whole = _try_whole_batch(function, args, kinds, result)
    if whole is not None:
        return whole
    if not args:
        return context.decoder.words([checked_call(function, name, result)()], result)

    values, inverse = per_distinct(context.decoder, args, kinds, checked_call(function, name, result))
    return context.decoder.words(values, result)[inverse]


def _try_whole_batch(
    function: Callable[..., Any], args: list[Words], kinds: tuple[Kind, ...], result: Kind
) -> Words | None:
    """The result of one call with arrays, if the function understands them."""
    if len(args) == 0 or len(args[0]) < 2 or result not in _NUMPY or any(k not in _NUMPY for k in kinds):
        return None
    try:
        value = function(*(a.view(_NUMPY[k]) for a, k in zip(args, kinds, strict=True)))
    except Exception:
        return None
    if not isinstance(value, np.ndarray) or value.shape != args[0].shape or value.dtype.kind not in "iuf":
        return None
    return np.ascontiguousarray(value.astype(_NUMPY[result])).view(np.int64)


def checked_call(function: Callable[..., Any], name: str, result: Kind) -> Callable[..., Any]:
    """The function with its errors and wrong results turned into faults."""
    wanted: Any = {Kind.SYMBOL: str, Kind.FLOAT: (int, float, np.number)}.get(result, (int, np.integer))

    def checked(*values: Any) -> Any:
        try:
            value = function(*values)
        except Exception as problem:
            shown = ", ".join(map(repr, values))
            raise Fault(f"@{name}({shown}) failed: {type(problem).__name__}: {problem}") from problem
        if not isinstance(value, wanted):
            shown = ", ".join(map(repr, values))
            raise Fault(f"@{name}({shown}) gave {value!r}, which is not a {result.value}")
        return value if result is Kind.SYMBOL else value.item() if isinstance(value, np.generic) else value

    return checked
