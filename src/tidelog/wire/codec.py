"""Dataclasses as JSON and back: the one way in which anything but tables goes from process to process.

A dataclass is an object with its fields, which may be numbers, texts, truth values, None, enumerations, lists, tuples,
dictionaries by text, and dataclasses; a field of type `Json` holds what JSON can hold, and whoever reads it checks it.
A numpy array of numbers travels beside the text, which has its type and shape only: its bytes are neither copied nor
looked at. What is always true: nothing that comes in is unpickled or evaluated, and what `read` returns has the types
that its class declares; anything else raises `MalformedMessage`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache
from math import prod
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = Any
"""What JSON can hold. Its reader says what it should be."""
_NUMBERS = "biuf"
"""The kinds of numbers that arrays may have."""
_NONE: Iterator[Any] = iter(())


class MalformedMessage(Exception):
    """Bytes that nobody who speaks with us sends."""


def dumps(value: Any) -> bytes:
    """Any value as described above. Texts may be such that Unicode does not have them."""
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def split(value: Any) -> tuple[bytes, list[NDArray[Any]]]:
    """The same of a value with arrays in it, and these, in the order in which `read` wants them."""
    arrays: list[NDArray[Any]] = []

    def plain(part: Any) -> Any:
        if not isinstance(part, np.ndarray):
            return _plain(part)
        assert part.dtype.kind in _NUMBERS, f"an array of {part.dtype} does not travel"
        arrays.append(np.ascontiguousarray(part))
        return part.dtype.str, part.shape

    return _encoder(plain).encode(value).encode("utf-8", "surrogatepass"), arrays


def dumps_ascii(value: Any) -> str:
    """The same as a text of ASCII alone, for whoever can carry nothing else."""
    return json.dumps(value, default=_plain)


def loads(text: bytes) -> Json:
    try:
        return json.loads(bytes(text).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise MalformedMessage(str(problem)) from None


def read(kind: Any, said: Json, arrays: Iterator[Any] = _NONE) -> Any:
    """A value of this type, from what `loads` has found, and from the bytes of its arrays."""
    if type(said) is kind or kind is Any:
        return said
    if hasattr(kind, "__dataclass_fields__"):
        hints, needed = _fields(kind)
        _check(needed <= _of(dict, said).keys() <= hints.keys(), said, kind)
        return kind(**{name: read(hints[name], each, arrays) for name, each in said.items()})
    inner = get_args(kind)
    origin = get_origin(kind) if inner else kind
    if origin in (Union, UnionType):
        (other,) = (option for option in inner if option is not NoneType)
        return None if said is None else read(other, said, arrays)
    if origin is np.ndarray:
        return _array(get_args(inner[1])[0], said, arrays)
    if origin is tuple and inner[-1] is not ...:
        _check(len(_of(list, said)) == len(inner), said, kind)
        return tuple(read(part, each, arrays) for part, each in zip(inner, said, strict=True))
    if origin is list or origin is tuple:
        _of(list, said)
        return said if inner[0] is Any else origin(read(inner[0], each, arrays) for each in said)
    if origin is dict:
        return {name: read(inner[1], each, arrays) for name, each in _of(dict, said).items()}
    if issubclass(kind, Enum):
        _check(any(said == member.value for member in kind), said, kind)
        return kind(said)
    return said if kind is float and type(said) is int else _of(kind, said)


def _array(kind: Any, said: Json, arrays: Iterator[Any]) -> NDArray[Any]:
    """The next array, which has numbers of this kind. It lies where it came in, unless it would lie askew there."""
    name, shape = read(tuple[str, tuple[int, ...]], said)
    _check(name[1:2] in _NUMBERS and all(n >= 0 for n in shape), said, kind)
    try:
        dtype = np.dtype(name)
        _check(kind is Any or issubclass(dtype.type, get_origin(kind) or kind), said, kind)
        found = np.frombuffer(next(arrays), dtype, prod(shape)).reshape(shape)
    except (TypeError, ValueError, StopIteration) as problem:
        raise MalformedMessage(f"{said!r} is no array: {problem}") from None
    return found if found.flags.aligned else found.copy()


def _of(kind: type, said: Json) -> Any:
    _check(type(said) is kind, said, kind)
    return said


def _check(fits: bool, said: Json, kind: Any) -> None:
    if not fits:
        raise MalformedMessage(f"{said!r} is no {getattr(kind, '__name__', kind)}")


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """The types of a dataclass's fields, and the names of those that have no default."""
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    return get_type_hints(kind), needed


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else vars(value)


def _encoder(plain: Callable[[Any], Any]) -> json.JSONEncoder:
    return json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False, default=plain)


_ENCODER = _encoder(_plain)
