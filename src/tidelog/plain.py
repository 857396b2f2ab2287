"""Classes of plain data: what `dataclasses` gives, at a price that is paid when a class is first used.

The decorators of `dataclasses` write and compile up to six functions for each class when it is defined, 0.3 ms of every
start; a small run defines more than 200 such classes and makes objects of less than half of them. Here a definition
notes the fields (some 20 µs), `__init__` is compiled when the first object is made, and the other methods are shared.

What is always true: a class behaves as that of `dataclasses.dataclass` with the same arguments, which is what type
checkers are told: equality, hashes, frozenness, slots, patterns, pickles. `dataclasses.fields`, `asdict` and
`is_dataclass` take it as one; the fields that they look at are made when they are asked for. Wrong orders of fields
and frozen classes under others are left to the type checker to find.
"""

from __future__ import annotations

from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

_MISSING: Any = object()


class PlainField:
    """What is known of a field; `type` is its annotation."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "repr", "type")

    def __init__(
        self, default: Any, default_factory: Any, init: bool, repr: bool, compare: bool, kw_only: bool
    ) -> None:  # fmt: skip
        self.default, self.default_factory, self.type = default, default_factory, ""
        self.init, self.repr, self.compare, self.kw_only = init, repr, compare, kw_only


if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
else:

    def field(*, default=_MISSING, default_factory=_MISSING, init=True, repr=True, compare=True, kw_only=False):
        return PlainField(default, default_factory, init, repr, compare, kw_only)

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False, repr=True):
        def made(cls):
            return _made(cls, frozen, eq, slots, repr)

        return made if cls is None else made(cls)

    def is_dataclass(thing):
        return hasattr(thing, "__dataclass_fields__")

    def fields(thing):
        from dataclasses import fields

        return fields(thing)

    def asdict(thing):
        from dataclasses import asdict

        return asdict(thing)

    def replace(thing, /, **changes):
        """The same object with other values of some fields."""
        cls = type(thing)
        for name, one in cls.__plain__.items():
            if not one.init:
                if name in changes:
                    raise ValueError(f"field {name} is not given to __init__, so it cannot be replaced")
            elif name not in changes:
                changes[name] = getattr(thing, name)
        return cls(**changes)


def _made(cls: type, frozen: bool, eq: bool, slots: bool, shown: bool) -> type:
    """The class with the methods of a dataclass."""
    known: dict[str, Any] = {}
    for base in cls.__mro__[-1:0:-1]:
        known.update(base.__dict__.get("__plain__", ()))
    own = _own_fields(cls)
    known.update(own)
    if slots:
        cls = _with_slots(cls, own)
    else:
        for name, one in own.items():
            if one.default is not _MISSING:
                setattr(cls, name, one.default)
            elif name in cls.__dict__:
                delattr(cls, name)
    there = cls.__dict__
    given: dict[str, Any] = {"__init__": _first_init(cls)}
    if shown:
        given["__repr__"] = _repr
    if eq:
        given["__eq__"] = _eq
        if "__hash__" not in there or (there["__hash__"] is None and "__eq__" in there):
            cls.__hash__ = _hash if frozen else None  # type: ignore[assignment]
    if frozen:
        given |= {"__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}
        if slots:
            given |= {"__getstate__": _get_state, "__setstate__": _set_state}
    given["__match_args__"] = tuple(name for name, one in known.items() if one.init and not one.kw_only)
    for name, value in given.items():
        if name not in there:
            setattr(cls, name, value)
    names = [name for name, one in known.items() if one.compare]
    about: dict[str, Any] = {
        "__plain__": known,
        "__plain_options__": {"frozen": frozen, "eq": eq, "repr": shown},
        "__compared__": attrgetter(*names) if len(names) > 1 else attrgetter(*names, "__class__", "__class__"),
        "__dataclass_fields__": _Described(cls, "__dataclass_fields__"),
        "__dataclass_params__": _Described(cls, "__dataclass_params__"),
    }
    for name, value in about.items():
        setattr(cls, name, value)
    return cls


def _own_fields(cls: type) -> dict[str, Any]:
    found = {}
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():  # noqa: RUF063
        if "ClassVar" in str(annotation):
            continue
        value = cls.__dict__.get(name, _MISSING)
        one = value if isinstance(value, PlainField) else PlainField(value, _MISSING, True, True, True, False)
        if one.default.__class__.__hash__ is None:
            raise ValueError(
                f"mutable default {type(one.default)} for field {name} is not allowed: use default_factory"
            )
        one.type = annotation
        found[name] = one
    return found


def _with_slots(cls: type, own: dict[str, Any]) -> type:
    """The same class with slots, which only a new class can have."""
    inherited = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    content = {name: value for name, value in cls.__dict__.items() if name not in own}
    content.pop("__dict__", None)
    content.pop("__weakref__", None)
    content["__slots__"] = tuple(name for name in own if name not in inherited)
    made: type = type(cls)(cls.__name__, cls.__bases__, content)
    made.__qualname__ = cls.__qualname__
    return made


def _first_init(cls: type) -> Callable[..., None]:
    """Compiles the `__init__` of the class and takes its place."""

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        if cls.__init__ is __init__:  # type: ignore[misc]
            cls.__init__ = _compiled_init(cls)  # type: ignore[misc]
        cls.__init__(self, *args, **values)  # type: ignore[misc]

    return __init__


def _compiled_init(cls: Any) -> Callable[..., None]:
    set_field = "_set(self, {0!r}, {1})" if cls.__plain_options__["frozen"] else "self.{0} = {1}"
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    plain: list[str] = ["self"]
    by_name: list[str] = []
    body: list[str] = []
    for name, one in cls.__plain__.items():
        value = name
        if one.default_factory is not _MISSING:
            names[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}" if one.init else f"_make_{name}()"
            default = "=_missing"
        elif one.default is not _MISSING:
            names[f"_default_{name}"] = one.default
            default = f"=_default_{name}"
            value = name if one.init else f"_default_{name}"
        else:
            default = ""
        if one.init:
            (by_name if one.kw_only else plain).append(name + default)
        if one.init or default:
            body.append(set_field.format(name, value))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*plain, "*", *by_name] if by_name else plain)
    text = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(text, names)
    made: Callable[..., None] = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    return made


class _Described:
    """The class as `dataclasses` describes it, worked out when somebody asks for it."""

    def __init__(self, cls: Any, name: str) -> None:
        self.cls, self.name = cls, name

    def __get__(self, thing: object, owner: type) -> Any:
        import dataclasses

        described: list[tuple[str, Any, Any]] = []
        for name, one in self.cls.__plain__.items():
            given = {key: getattr(one, key) for key in ("init", "repr", "compare", "kw_only")}
            for key in ("default", "default_factory"):
                if getattr(one, key) is not _MISSING:
                    given[key] = getattr(one, key)
            described.append((name, one.type, dataclasses.field(**given)))
        twin = dataclasses.make_dataclass(self.cls.__name__, described, **self.cls.__plain_options__)
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(self.cls, name, getattr(twin, name))
        return getattr(self.cls, self.name)


# ---- the methods that all share


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    compared = self.__compared__
    return compared(self) == compared(other)


def _hash(self: Any) -> int:
    return hash(self.__compared__(self))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in self.__plain__.items() if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, what: str) -> None:
    """Raise for a field, and for whatever name in a class that is itself frozen, not one that is made of it."""
    if name in self.__plain__ or "__plain__" in type(self).__dict__:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot {what} field {name!r}")


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    _refuse(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deleting(self: Any, name: str) -> None:
    _refuse(self, name, "delete")
    object.__delattr__(self, name)


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__plain__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__plain__, state, strict=True):
        object.__setattr__(self, name, value)
