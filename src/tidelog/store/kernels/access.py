# mypy: disable-error-code="misc, untyped-decorator"
"""Blocks and words in kernels: what `blocks.py` declares, as types that numba knows.

A value of such a type is an address in a register. What is always true: an attribute or an element is one load or one
store at that address plus a constant or a multiple of an element's size, the same instructions as if they were written
by hand; nothing is checked. Cost: none at run time; numba has less to compile than for the arithmetic on addresses.
"""

from __future__ import annotations

import operator
from inspect import get_annotations
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin, lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import type_callable

from tidelog.store import blocks
from tidelog.store.kernels.raw import I32, I64, intrinsic


class Address(types.Type):
    """The address of something."""


class BlockAt(Address):
    """The address of a block, or of the first of several."""

    def __init__(self, block: type[blocks.Block]) -> None:
        self.block = block
        super().__init__(f"{block.__name__}*")


class ArrayAt(Address):
    """The address of elements side by side, 4 or 8 bytes each; to a kernel their type is `element`."""

    def __init__(self, element: types.Type, width: int = 8) -> None:
        self.element, self.width = element, width
        super().__init__(f"({element}:{width})*")


WORDS, HALVES = ArrayAt(types.int64), ArrayAt(types.int64, 4)
COLUMNS = ArrayAt(WORDS)
PLAIN = {"int": types.int64, "Half": types.int64, "Words": WORDS, "Halves": HALVES, "Columns": COLUMNS}


@register_default(BlockAt)
@register_default(ArrayAt)
class AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, I64)


def field_type(annotation: str) -> types.Type:
    """What a field is to a kernel."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    if annotation.startswith("Annotated["):
        return PLAIN[annotation[10:-1].split(", ")[0]]
    if annotation.startswith("Addresses["):
        return ArrayAt(BlockAt(getattr(blocks, annotation[10:-1])))
    return BlockAt(getattr(blocks, annotation.removeprefix("Inside[").rstrip("]")))


def annotation_of(block: type, name: str) -> str | None:
    return next((notes[name] for notes in map(get_annotations, block.__mro__) if name in notes), None)


def is_within(annotation: str) -> bool:
    """Whether a field is itself within the block, and to a kernel its address."""
    return annotation.startswith(("Inside[", "Annotated["))


def load(builder: Any, address: Any, width: int) -> Any:
    kind = I64 if width == 8 else I32
    found = builder.load(builder.inttoptr(address, kind.as_pointer()))
    return found if width == 8 else builder.sext(found, I64)


def store(builder: Any, address: Any, value: Any, width: int) -> None:
    kind = I64 if width == 8 else I32
    builder.store(value if width == 8 else builder.trunc(value, I32), builder.inttoptr(address, kind.as_pointer()))


# Fields


@infer_getattr
class Fields(AttributeTemplate):
    key = BlockAt

    def generic_resolve(self, at: BlockAt, name: str) -> types.Type | None:
        annotation = annotation_of(at.block, name)
        return None if annotation is None else field_type(annotation)


@lower_getattr_generic(BlockAt)
def read_field(context: Any, builder: Any, at: BlockAt, address: Any, name: str) -> Any:
    place = getattr(at.block, name)
    there = builder.add(address, I64(place.offset))
    return there if is_within(annotation_of(at.block, name) or "") else load(builder, there, place.size)


@lower_setattr_generic(BlockAt)
def write_field(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    place = getattr(sig.args[0].block, name)
    store(builder, builder.add(args[0], I64(place.offset)), args[1], place.size)


# Elements


def element_size(at: Address) -> int:
    return at.width if isinstance(at, ArrayAt) else blocks.size(at.block)


@infer_global(operator.getitem)
class GetElement(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], ArrayAt):
            return signature(args[0].element, args[0], types.int64)
        return signature(args[0], args[0], types.int64) if isinstance(args[0], BlockAt) else None


@infer_global(operator.setitem)
class SetElement(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.none, args[0], types.int64, args[0].element) if isinstance(args[0], ArrayAt) else None


@infer_global(operator.add)
class Behind(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0], types.int64) if isinstance(args[0], ArrayAt) else None


def place_of(builder: Any, at: Address, args: Any) -> Any:
    return builder.add(args[0], builder.mul(args[1], I64(element_size(at))))


@lower_builtin(operator.getitem, BlockAt, types.int64)
@lower_builtin(operator.add, ArrayAt, types.int64)
def address_of_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return place_of(builder, sig.args[0], args)


@lower_builtin(operator.getitem, ArrayAt, types.int64)
def read_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return load(builder, place_of(builder, sig.args[0], args), sig.args[0].width)


@lower_builtin(operator.setitem, ArrayAt, types.int64, types.Any)
def write_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    store(builder, place_of(builder, sig.args[0], args), args[2], sig.args[0].width)
    return context.get_dummy_value()


# Addresses from numbers, as numbers, and as truth values: an address of 0 is none


@lower_cast(Address, types.int64)
@lower_cast(types.int64, Address)
@lower_cast(Address, Address)
def same_bits(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return value


def as_boolean(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return cgutils.is_not_null(builder, args[0])


def as_negation(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return cgutils.is_null(builder, args[0])


@infer_global(bool)
@infer_global(operator.truth)
@infer_global(operator.not_)
class Truth(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, args[0]) if isinstance(args[0], Address) else None


lower_builtin(bool, Address)(as_boolean)
lower_builtin(operator.truth, Address)(as_boolean)
lower_builtin(operator.not_, Address)(as_negation)


def make_callable(marker: type, at: Address) -> None:
    """Let `marker(address)` be the thing at an address."""

    @type_callable(marker)
    def typed(context: Any) -> Any:
        return lambda address: at

    def same(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[0], sig.args[0], types.int64)

    lower_builtin(marker, types.Any)(same)


@intrinsic
def address(typingctx: Any, thing: Any) -> Any:
    """The address of something, as a number."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[0]

    return types.int64(thing), codegen


for marker, at in ((blocks.Words, WORDS), (blocks.Halves, HALVES), (blocks.Columns, COLUMNS)):
    make_callable(marker, at)
for block in vars(blocks).values():
    if isinstance(block, type) and issubclass(block, blocks.Block):
        make_callable(block, BlockAt(block))
