"""Raw memory for kernels: loads, stores, prefetch and atomics at integer addresses.

Holds the few intrinsics that numba lacks. Everything is an int64: addresses, words, hashes, keys. A kernel written
with these takes and returns integers only, so that it needs neither numba's array descriptors nor its runtime, and its
code can be shipped and called without numba (see `compiling.py`). Cost: each is one machine instruction.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, njit, types

I8, I32, I64, F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def intrinsic(function: Any) -> Any:
    """numba's decorator, with a type."""
    return extending.intrinsic(function)


def _pointer(builder: Any, address: Any, to: Any) -> Any:
    return builder.inttoptr(address, to.as_pointer())


@intrinsic
def ld64(typingctx: Any, address: Any) -> Any:
    """The int64 at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, args[0], I64))

    return types.int64(types.int64), codegen


@intrinsic
def st64(typingctx: Any, address: Any, value: Any) -> Any:
    """Store an int64 at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], _pointer(builder, args[0], I64))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def ld32(typingctx: Any, address: Any) -> Any:
    """The int32 at an address, sign extended."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(builder.load(_pointer(builder, args[0], I32)), I64)

    return types.int64(types.int64), codegen


@intrinsic
def st32(typingctx: Any, address: Any, value: Any) -> Any:
    """Store the low half of a value at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(builder.trunc(args[1], I32), _pointer(builder, args[0], I32))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def ld8(typingctx: Any, address: Any) -> Any:
    """The byte at an address, from 0 to 255."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.load(_pointer(builder, args[0], I8)), I64)

    return types.int64(types.int64), codegen


@intrinsic
def prefetch(typingctx: Any, address: Any) -> Any:
    """Ask for a cache line; any address will do."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i8p = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [i8p, I32, I32, I32])
        function = builder.module.declare_intrinsic("llvm.prefetch", (i8p,), kind)
        builder.call(function, [builder.inttoptr(args[0], i8p), I32(0), I32(3), I32(1)])
        return context.get_dummy_value()

    return types.void(types.int64), codegen


@intrinsic
def lshr(typingctx: Any, value: Any, count: Any) -> Any:
    """Shift right, filling with zeros; count is 0..63."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.lshr(args[0], args[1])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def ult(typingctx: Any, left: Any, right: Any) -> Any:
    """left < right, both read as unsigned."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.icmp_unsigned("<", args[0], args[1])

    return types.boolean(types.int64, types.int64), codegen


@intrinsic
def udiv(typingctx: Any, left: Any, right: Any) -> Any:
    """Unsigned quotient; right is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.udiv(args[0], args[1])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def urem(typingctx: Any, left: Any, right: Any) -> Any:
    """Unsigned remainder; right is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.urem(args[0], args[1])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def sdiv(typingctx: Any, left: Any, right: Any) -> Any:
    """Quotient rounded towards zero, as in C; right is neither 0 nor -1."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sdiv(args[0], args[1])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def srem(typingctx: Any, left: Any, right: Any) -> Any:
    """Remainder with the sign of the dividend, as in C; right is neither 0 nor -1."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.srem(args[0], args[1])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def as_float(typingctx: Any, bits: Any) -> Any:
    """Read the 64 bits as a float."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], F64)

    return types.float64(types.int64), codegen


@intrinsic
def as_bits(typingctx: Any, value: Any) -> Any:
    """The 64 bits of a float."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], I64)

    return types.int64(types.float64), codegen


@intrinsic
def popcount(typingctx: Any, value: Any) -> Any:
    """How many bits are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def cycles(typingctx: Any) -> Any:
    """The processor's time stamp counter."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(I64, []))
        return builder.call(function, [])

    return types.int64(), codegen


@intrinsic
def compare_and_swap(typingctx: Any, address: Any, expected: Any, value: Any) -> Any:
    """Atomically replace `expected` at an address; gives what was there before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(builder, args[0], I64)
        pair = builder.cmpxchg(pointer, args[1], args[2], "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def compare_and_swap_half(typingctx: Any, address: Any, expected: Any, value: Any) -> Any:
    """compare_and_swap of 32 bits; gives what was there before, signed."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        expected, value = (builder.trunc(args[at], I32) for at in (1, 2))
        pair = builder.cmpxchg(_pointer(builder, args[0], I32), expected, value, "acq_rel", "acquire")
        return builder.sext(builder.extract_value(pair, 0), I64)

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def load_acquire(typingctx: Any, address: Any) -> Any:
    """What another thread may be writing; whatever it wrote before is seen by the loads that follow."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(builder, args[0], I64), "acquire", 8)

    return types.int64(types.int64), codegen


@intrinsic
def load_acquire_half(typingctx: Any, address: Any) -> Any:
    """load_acquire of 32 bits, signed."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(builder.load_atomic(_pointer(builder, args[0], I32), "acquire", 4), I64)

    return types.int64(types.int64), codegen


@intrinsic
def fetch_or(typingctx: Any, address: Any, value: Any) -> Any:
    """Atomically set bits at an address; gives what was there before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("or", _pointer(builder, args[0], I64), args[1], "acq_rel")

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def fetch_add(typingctx: Any, address: Any, value: Any) -> Any:
    """Atomically add at an address; gives what was there before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, args[0], I64), args[1], "acq_rel")

    return types.int64(types.int64, types.int64), codegen


def kernel(function: Any) -> Any:
    """Compiled for callers that are kernels too: no bounds checks, no exceptions, no runtime."""
    return njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def inlined(function: Any) -> Any:
    """Like `kernel`, merged by LLVM into its callers."""
    return njit(
        nogil=True, error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)  # fmt: skip


@inlined
def ldw(address: int, wide: int) -> int:
    """A word of a relation: 8 bytes when wide, else 4."""
    if wide:
        return ld64(address)
    return ld32(address)


@inlined
def stw(address: int, value: int, wide: int) -> None:
    """Store a word of a relation."""
    if wide:
        st64(address, value)
    else:
        st32(address, value)
