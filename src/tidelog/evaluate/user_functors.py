"""Functors that the user wrote in Python: `.functor f(x: number): number` calls `f` of the functors module.

A function that accepts arrays is called once per batch; any other once per distinct combination of arguments. What
Soufflé calls stateful are functors that may take and give records: a record is a tuple of its fields or None for nil, a
branch of an algebraic type a tuple that begins with its name, such as `("$Node", left, right)`.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tidelog.analysis.types import Type, TypeSystem
from tidelog.errors import Report, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.functors import Fault, per_distinct
from tidelog.floats import float_words
from tidelog.io.codec import record_values, record_words
from tidelog.io.record_text import base_type
from tidelog.lang import tree
from tidelog.store.distinct import distinct_rows
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


class FunctorTypes(NamedTuple):
    """The declared types of the parameters and of the result."""

    params: tuple[Type, ...]
    result: Type

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(param.kind for param in self.params)


def functor_types(program: tree.Program, types: TypeSystem) -> dict[str, FunctorTypes]:
    """Of all functors that a program declares."""
    return {
        decl.name: FunctorTypes(tuple(types.types[p.type] for p in decl.params), types.types[decl.result])
        for decl in program.of(tree.FunctorDecl)
    }


def call(context: Context, name: str, args: list[Words]) -> Words:
    """The functor over a batch."""
    types = context.functor_types[name]
    kinds, result = types.kinds, types.result.kind
    function = context.functors[name]
    whole = _try_whole_batch(function, args, kinds, result)
    if whole is not None:
        return whole
    checked = checked_call(function, name, result)
    if Kind.RECORD in (*kinds, result):
        return _call_with_records(context, types, name, args, checked)
    if not args:
        return context.decoder.words([checked()], result)

    values, inverse = per_distinct(context.decoder, args, kinds, checked)
    return context.decoder.words(values, result)[inverse]


def _call_with_records(
    context: Context, types: FunctorTypes, name: str, args: list[Words], function: Callable[..., Any]
) -> Words:
    rows, which = distinct_rows(np.column_stack(args)) if args else (np.empty((1, 0), np.int64), np.zeros(1, np.intp))
    columns = [_decoded(context, column, declared) for column, declared in zip(rows.T, types.params, strict=True)]
    values = [function(*row) for row in zip(*columns, strict=True)] if args else [function()]
    return _encoded(context, values, types.result, name)[which]


def fold(context: Context, name: str, begin: Words, group: Words, values: Words) -> Words:
    """For each group, what the functor makes of its first word and then of one value after the other, in an order that
    is that of the values: an update must give what a new evaluation gives."""
    types = context.functor_types[name]
    checked = checked_call(context.functors[name], name, types.result.kind)
    results = _decoded(context, begin, types.result)
    seen = _decoded(context, values, types.params[1])
    for place in sorted(range(len(seen)), key=lambda place: _rank(seen[place])):
        which = int(group[place])
        results[which] = checked(results[which], seen[place])
    return _encoded(context, results, types.result, name)


def _rank(value: Any) -> Any:
    """By this values of one type can be sorted: records by how they are written, NaN last."""
    if isinstance(value, float):
        return (value != value, value)
    return value if isinstance(value, int | str) else repr(value)


def _decoded(context: Context, words: Words, declared: Type) -> list[Any]:
    words = np.ascontiguousarray(words)
    if declared.kind is Kind.RECORD:
        return list(record_values(words, base_type(declared), context.database))
    return context.decoder.values(words, declared.kind)


def _encoded(context: Context, values: list[Any], declared: Type, name: str) -> Words:
    if declared.kind is not Kind.RECORD:
        return context.decoder.words(values, declared.kind)
    try:
        return record_words(values, declared, context.database)
    except (ValueError, OverflowError) as problem:
        raise Fault(f"@{name} gave a value that is not a `{declared.name}`: {problem}") from None


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
    if result is Kind.FLOAT:
        return float_words(value)
    return np.ascontiguousarray(value.astype(_NUMPY[result])).view(np.int64)


def checked_call(function: Callable[..., Any], name: str, result: Kind) -> Callable[..., Any]:
    """The function with its errors and wrong results turned into faults."""
    kinds: dict[Kind, Any] = {Kind.SYMBOL: str, Kind.FLOAT: (int, float, np.number), Kind.RECORD: object}
    wanted = kinds.get(result, (int, np.integer))

    def checked(*values: Any) -> Any:
        try:
            value = function(*values)
        except Exception as problem:
            shown = ", ".join(map(repr, values))
            raise Fault(f"@{name}({shown}) failed: {type(problem).__name__}: {problem}") from problem
        if not isinstance(value, wanted):
            shown = ", ".join(map(repr, values))
            raise Fault(f"@{name}({shown}) gave {value!r}, which is not a {result.value}")
        return value.item() if isinstance(value, np.generic) else value

    return checked
