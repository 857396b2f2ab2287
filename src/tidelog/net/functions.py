"""The function relations of NDlog (paper 003, section 2): arithmetic, comparison, lists.

`X = f(Y)` is read as a relation that holds for the pairs on which f is defined. So a function outside its domain
(a division by zero, the first element of an empty list) is a relation without a matching tuple: the rule does not fire.
A function applied to values of the wrong kind is a mistake in the program and is reported, as is a number that does
not fit in 64 bits: nothing wraps around.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tidelog.net.values import Value, normal, show, truth


class Undefined(Exception):
    """The function has no value here, so the rule does not fire."""


class WrongKind(Exception):
    """The function was given a value of a kind that it has no meaning for; the text says which."""


class Function(NamedTuple):
    arity: int
    apply: Callable[..., Value]
    written: str


def _number(value: Value) -> float | int:
    if isinstance(value, (int, float)):
        return value
    raise WrongKind(f"{show(value)} is not a number")


def _list(value: Value) -> tuple[Value, ...]:
    if isinstance(value, tuple):
        return value
    raise WrongKind(f"{show(value)} is not a list")


def _fits(value: float | int) -> Value:
    if isinstance(value, int):
        if -(1 << 63) <= value < 1 << 64:
            return value
        raise WrongKind("the result does not fit in 64 bits")
    if value != value or value in (float("inf"), float("-inf")):
        raise Undefined
    return normal(value)


def _divide(a: Value, b: Value) -> Value:
    x, y = _number(a), _number(b)
    if y == 0:
        raise Undefined
    if isinstance(x, int) and isinstance(y, int) and x % y == 0:
        return _fits(x // y)
    return _fits(x / y)


def _modulo(a: Value, b: Value) -> Value:
    x, y = _number(a), _number(b)
    if y == 0:
        raise Undefined
    return _fits(x % y)


def _power(a: Value, b: Value) -> Value:
    x, y = _number(a), _number(b)
    if isinstance(x, int) and isinstance(y, int) and y > 64 and abs(x) > 1:
        raise WrongKind("the result does not fit in 64 bits")
    try:
        result = x**y
    except (ZeroDivisionError, OverflowError):
        raise Undefined from None
    if isinstance(result, complex):
        raise Undefined
    return _fits(result)


def _concat(head: Value, tail: Value) -> Value:
    """`f_concat(S,P)` puts a node before a path; two lists are joined."""
    return head + _list(tail) if isinstance(head, tuple) else (head, *_list(tail))


def _end(value: Value, index: int) -> Value:
    items = _list(value)
    if not items:
        raise Undefined
    return items[index]


def _in_range(key: Value, low: Value, high: Value) -> Value:
    """Whether the key lies in (low, high] on a ring; the whole ring if both are the same."""
    k, a, b = _number(key), _number(low), _number(high)
    return truth(a < k <= b if a < b else k > a or k <= b)


def _strictly_between(key: Value, low: Value, high: Value) -> Value:
    """Whether the key lies in (low, high) on a ring; everything but the end if both are the same."""
    return truth(key != high and _in_range(key, low, high) == truth(True))


def _member(path: Value, node: Value) -> Value:
    return truth(node in _list(path))


FUNCTIONS: dict[str, Function] = {
    "+": Function(2, lambda a, b: _fits(_number(a) + _number(b)), "A + B"),
    "-": Function(2, lambda a, b: _fits(_number(a) - _number(b)), "A - B"),
    "*": Function(2, lambda a, b: _fits(_number(a) * _number(b)), "A * B"),
    "/": Function(2, _divide, "A / B"),
    "%": Function(2, _modulo, "A % B"),
    "^": Function(2, _power, "A ^ B"),
    "neg": Function(1, lambda a: _fits(-_number(a)), "-A"),
    "f_init": Function(2, lambda s, d: (s, d), "f_init(S,D)"),
    "f_concat": Function(2, _concat, "f_concat(S,P)"),
    "f_concatPath": Function(2, lambda s, p: (s, *_list(p)), "f_concatPath(S,P)"),
    "f_append": Function(2, lambda p, d: (*_list(p), d), "f_append(P,D)"),
    "f_inPath": Function(2, _member, "f_inPath(P,S)"),
    "f_member": Function(2, _member, "f_member(P,S)"),
    "f_size": Function(1, lambda p: len(_list(p)), "f_size(P)"),
    "f_first": Function(1, lambda p: _end(p, 0), "f_first(P)"),
    "f_last": Function(1, lambda p: _end(p, -1), "f_last(P)"),
    "f_inRange": Function(3, _in_range, "f_inRange(K,A,B)"),
    "f_between": Function(3, _strictly_between, "f_between(K,A,B)"),
}


def _ordered(compare: Callable[[object, object], bool]) -> Callable[[Value, Value], bool]:
    def holds(a: Value, b: Value) -> bool:
        same = (isinstance(a, (int, float)) and isinstance(b, (int, float))) or type(a) is type(b)
        if not same:
            raise WrongKind(f"{show(a)} and {show(b)} have no order")
        try:
            return compare(a, b)
        except TypeError:
            raise WrongKind(f"{show(a)} and {show(b)} have no order") from None

    return holds


COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": _ordered(lambda a, b: a < b),  # type: ignore[operator]
    "<=": _ordered(lambda a, b: a <= b),  # type: ignore[operator]
    ">": _ordered(lambda a, b: a > b),  # type: ignore[operator]
    ">=": _ordered(lambda a, b: a >= b),  # type: ignore[operator]
}
