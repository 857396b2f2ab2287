"""Arithmetic and comparisons over columns of a chunk, with Soufflé's 64-bit meaning.

Numbers wrap around, shift counts use their low six bits, quotients round towards zero, floats are IEEE doubles held
as bits. Division by zero is found before anything is written; the caller learns the first offending position.
Cost: one pass over the chunk per operation; the operation is chosen once per chunk.
"""

from __future__ import annotations

import math

from tidelog.store.kernels.raw import as_bits, as_float, inlined, kernel, ld64, lshr, sdiv, srem, st64, udiv, ult, urem
from tidelog.store.layout import EQ, FLOAT, GT, LE, LT, NE, UNSIGNED

OPERATIONS = (
    "+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot", "land", "lor", "lxor",
    "lnot", "neg", "min", "max", "itou", "utoi", "itof", "utof", "ftoi", "ftou", "copy",
)  # fmt: skip
(
    ADD, SUB, MUL, DIV, MOD, POW, BAND, BOR, BXOR, BSHL, BSHR, BSHRU, BNOT, LAND, LOR, LXOR,
    LNOT, NEG, MIN, MAX, ITOU, UTOI, ITOF, UTOF, FTOI, FTOU, COPY,
) = range(27)  # fmt: skip


@inlined
def less(a: int, b: int, kind: int) -> bool:
    if kind == FLOAT:
        return as_float(a) < as_float(b)
    if kind == UNSIGNED:
        return ult(a, b)
    return a < b


@inlined
def equal(a: int, b: int, kind: int) -> bool:
    if kind == FLOAT:
        return as_float(a) == as_float(b)
    return a == b


@inlined
def compare(op: int, a: int, b: int, kind: int) -> bool:
    """a op b for values of a kind."""
    if op == EQ:
        return equal(a, b, kind)
    if op == NE:
        return not equal(a, b, kind)
    if op == LT:
        return less(a, b, kind)
    if op == GT:
        return less(b, a, kind)
    if op == LE:
        return less(a, b, kind) or equal(a, b, kind)
    return less(b, a, kind) or equal(a, b, kind)


@kernel
def select(op: int, kind: int, a: int, b: int, m: int, chosen: int) -> int:
    """List the positions where a op b holds; gives their number."""
    k = 0
    if kind != FLOAT and op == EQ:
        for i in range(m):
            st64(chosen + k * 8, i)
            k += ld64(a + i * 8) == ld64(b + i * 8)
        return k
    if kind != FLOAT and op == NE:
        for i in range(m):
            st64(chosen + k * 8, i)
            k += ld64(a + i * 8) != ld64(b + i * 8)
        return k
    for i in range(m):
        st64(chosen + k * 8, i)
        k += compare(op, ld64(a + i * 8), ld64(b + i * 8), kind)
    return k


@inlined
def power(a: int, b: int) -> int:
    """a to the b, wrapping; a negative exponent gives what truncating the quotient gives."""
    if b < 0:
        if a == 1:
            return 1
        if a == -1:
            return 1 if b & 1 == 0 else -1
        return 0
    result = 1
    while b > 0:
        if b & 1:
            result *= a
        a *= a
        b >>= 1
    return result


@inlined
def power_unsigned(a: int, b: int) -> int:
    result = 1
    while b != 0:
        if b & 1:
            result *= a
        a *= a
        b = lshr(b, 1)
    return result


@inlined
def float_to_int(x: float) -> int:
    if x != x:
        return 0
    if x >= 9.223372036854775807e18:
        return 0x7FFFFFFFFFFFFFFF
    if x <= -9.223372036854775808e18:
        return -0x7FFFFFFFFFFFFFFF - 1
    return int(x)


@inlined
def unsigned_to_float(a: int) -> float:
    if a >= 0:
        return float(a)
    return float(lshr(a, 1) | (a & 1)) * 2.0


@inlined
def float_to_unsigned(x: float) -> int:
    if not x > 0.0:
        return 0
    if x < 9.223372036854775808e18:
        return int(x)
    if x >= 1.8446744073709551616e19:
        return -1
    return int(x - 9.223372036854775808e18) ^ (-0x7FFFFFFFFFFFFFFF - 1)


@inlined
def on_floats(op: int, a: float, b: float) -> float:
    if op == ADD:
        return a + b
    if op == SUB:
        return a - b
    if op == MUL:
        return a * b
    if op == DIV:
        return a / b
    if op == POW:
        return math.pow(a, b)
    if op == NEG:
        return -a
    if op == MIN:
        return min(b, a)
    return max(b, a)


@inlined
def on_integers(op: int, a: int, b: int, unsigned: bool) -> int:
    if op == DIV:
        if unsigned:
            return udiv(a, b)
        return -a if b == -1 else sdiv(a, b)
    if op == MOD:
        if unsigned:
            return urem(a, b)
        return 0 if b == -1 else srem(a, b)
    if op == POW:
        return power_unsigned(a, b) if unsigned else power(a, b)
    if op == BSHL:
        return a << (b & 63)
    if op == BSHR:
        return lshr(a, b & 63) if unsigned else a >> (b & 63)
    if op == BSHRU:
        return lshr(a, b & 63)
    if op == LAND:
        return int(a != 0 and b != 0)
    if op == LOR:
        return int(a != 0 or b != 0)
    if op == LXOR:
        return int((a != 0) != (b != 0))
    if op == MIN:
        if unsigned:
            return a if ult(a, b) else b
        return min(a, b)
    if unsigned:
        return b if ult(a, b) else a
    return max(a, b)


@kernel
def apply(op: int, kind: int, a: int, b: int, target: int, m: int) -> int:
    """target := a op b; -1, or the position of the first division by zero."""
    if kind == FLOAT and op <= MAX:
        for i in range(m):
            st64(target + i * 8, as_bits(on_floats(op, as_float(ld64(a + i * 8)), as_float(ld64(b + i * 8)))))
        return -1
    if op in (DIV, MOD):
        for i in range(m):
            if ld64(b + i * 8) == 0:
                return i
    if op == ADD:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) + ld64(b + i * 8))
    elif op == SUB:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) - ld64(b + i * 8))
    elif op == MUL:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) * ld64(b + i * 8))
    elif op == BAND:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) & ld64(b + i * 8))
    elif op == BOR:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) | ld64(b + i * 8))
    elif op == BXOR:
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8) ^ ld64(b + i * 8))
    elif op == BNOT:
        for i in range(m):
            st64(target + i * 8, ~ld64(a + i * 8))
    elif op == LNOT:
        for i in range(m):
            st64(target + i * 8, int(ld64(a + i * 8) == 0))
    elif op == NEG:
        for i in range(m):
            st64(target + i * 8, -ld64(a + i * 8))
    elif op == ITOF:
        for i in range(m):
            st64(target + i * 8, as_bits(float(ld64(a + i * 8))))
    elif op == UTOF:
        for i in range(m):
            st64(target + i * 8, as_bits(unsigned_to_float(ld64(a + i * 8))))
    elif op == FTOI:
        for i in range(m):
            st64(target + i * 8, float_to_int(as_float(ld64(a + i * 8))))
    elif op == FTOU:
        for i in range(m):
            st64(target + i * 8, float_to_unsigned(as_float(ld64(a + i * 8))))
    elif op in (COPY, ITOU, UTOI):
        for i in range(m):
            st64(target + i * 8, ld64(a + i * 8))
    else:
        for i in range(m):
            st64(target + i * 8, on_integers(op, ld64(a + i * 8), ld64(b + i * 8), kind == UNSIGNED))
    return -1
