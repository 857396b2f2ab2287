"""Classes of plain data behave as those of `dataclasses`, case by case; and they are not made before they are used."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from math import nan
from typing import Any, ClassVar

import pytest

from tidelog import plain


@plain.dataclass(frozen=True, slots=True)
class Kept:
    """For pickles, which need a class that can be found."""

    a: int
    b: tuple[int, ...] = (1,)


Decorate = Any


def _families(dataclass: Decorate, field: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, made by one decorator or the other."""

    @dataclass
    class Open:
        kind: ClassVar[str] = "open"
        a: int
        b: list[int] = field(default_factory=list)
        c: int = field(default=7, init=False)

        def __post_init__(self) -> None:
            self.a += 1

    @dataclass(frozen=True)
    class Frozen:
        a: Any
        b: str = "x"
        hidden: int = field(default=0, compare=False, repr=False, kw_only=True)

    @dataclass(frozen=True)
    class Sub(Frozen):
        c: int = 3
        b: str = "y"

    @dataclass(frozen=True, slots=True)
    class Slotted:
        a: int
        b: int = 2

    @dataclass(frozen=True, slots=True)
    class SubSlotted(Slotted):
        c: Any = None

    @dataclass(eq=False)
    class Itself:
        a: int

    @dataclass(frozen=True)
    class Empty:
        pass

    @dataclass(slots=True, eq=False, repr=False)
    class Counter:
        n: int = 0

    return {cls.__name__: cls for cls in (Open, Frozen, Sub, Slotted, SubSlotted, Itself, Empty, Counter)}


OURS = _families(plain.dataclass, plain.field)
USES: dict[str, Callable[[dict[str, Any]], object]] = {
    "positional": lambda k: k["Open"](1, [2]),
    "by name": lambda k: k["Open"](b=[2], a=1).c,
    "a default of its own": lambda k: k["Open"](1).b is k["Open"](1).b,
    "missing": lambda k: k["Frozen"](),
    "too many": lambda k: k["Frozen"](1, "b", 3),
    "not given to init": lambda k: k["Open"](1, c=2),
    "repr": lambda k: repr([k["Frozen"](1, hidden=3), k["Sub"]("t"), k["Empty"](), k["SubSlotted"](1)]),
    "equal": lambda k: (k["Frozen"](1) == k["Frozen"](1, hidden=9), k["Frozen"](1) == k["Sub"](1)),
    "not a number is itself": lambda k: k["Frozen"](nan) == k["Frozen"](nan),
    "unlike others": lambda k: (k["Frozen"](1) == 1, k["Empty"]() == k["Empty"]()),
    "by identity": lambda k: (k["Itself"](1) == k["Itself"](1), hash(k["Counter"]()) != 0),
    "in a set": lambda k: len({k["Frozen"](1), k["Frozen"](1), k["Frozen"](2), k["Empty"](), k["Empty"]()}),
    "no hash": lambda k: hash(k["Open"](1)),
    "hash of an unhashable": lambda k: hash(k["Frozen"]([1])),
    "assigned": lambda k: setattr(k["Frozen"](1), "a", 2),
    "assigned in a subclass": lambda k: setattr(k["SubSlotted"](1), "a", 2),
    "new attribute": lambda k: setattr(k["Frozen"](1), "other", 2),
    "deleted": lambda k: delattr(k["Slotted"](1), "a"),
    "open is assigned": lambda k: setattr(k["Open"](1), "a", 5),
    "has slots": lambda k: [hasattr(k[name](1), "__dict__") for name in ("Slotted", "SubSlotted", "Counter", "Open")],
    "fields": lambda k: [
        (f.name, f.default == 0, f.init, f.kw_only) for c in k.values() for f in dataclasses.fields(c)
    ],
    "params": lambda k: [c.__dataclass_params__.frozen for c in k.values()],
    "asdict": lambda k: dataclasses.asdict(k["Sub"](k["Open"](1))),
    "std replace": lambda k: repr(dataclasses.replace(k["Sub"](1), c=5)),
    "match": lambda k: [c.__match_args__ for c in k.values()],
    "copies": lambda k: [copy.deepcopy(o) == o for o in (k["Sub"](1), k["SubSlotted"](1), k["Open"](1))],
    "names": lambda k: [c.__qualname__.split(".")[-1] for c in k.values()],
}


def outcome(use: Callable[[dict[str, Any]], object], classes: dict[str, Any]) -> object:
    try:
        found = use(classes)
    except Exception as problem:
        return type(problem), str(problem)
    return found if isinstance(found, (str, int, list, tuple, dict)) else repr(found)


@pytest.mark.parametrize("name", USES)
def test_a_class_of_plain_data_behaves_as_a_dataclass(name: str) -> None:
    ours, theirs = (outcome(USES[name], _families(d, f)) for d, f in
                    ((plain.dataclass, plain.field), (dataclasses.dataclass, dataclasses.field)))  # fmt: skip
    if isinstance(ours, tuple) and isinstance(ours[0], type) and name != "missing":
        assert isinstance(theirs, tuple)
        assert ours[0] == theirs[0]
    else:
        assert ours == theirs


def test_replace_and_pickles() -> None:
    assert plain.replace(Kept(1), a=5) == Kept(5)
    assert pickle.loads(pickle.dumps(Kept(3, (4,)))) == Kept(3, (4,))
    with pytest.raises(ValueError, match="not given to __init__"):
        plain.replace(OURS["Open"](1), c=3)


def test_a_mutable_default_is_refused() -> None:
    with pytest.raises(ValueError, match="default_factory"):
        plain.dataclass(type("Wrong", (), {"__annotations__": {"a": "list[int]"}, "a": []}))


def test_a_dataclass_may_extend_a_plain_class() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Kept):
        c: int = 5

    assert More(1, (2,), 3) == More(1, (2,), 3)
    assert [f.name for f in dataclasses.fields(More)] == ["a", "b", "c"]


def test_methods_are_compiled_when_the_first_object_is_made() -> None:
    @plain.dataclass
    class Fresh:
        a: int

    before = Fresh.__init__
    Fresh(1)
    assert Fresh.__init__ is not before
    assert Fresh.__init__.__qualname__.endswith("Fresh.__init__")
