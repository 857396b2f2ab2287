"""Arithmetic and comparisons over columns of a chunk, with Soufflé's 64-bit meaning.

Numbers wrap around, shift counts use their low six bits, quotients round towards zero, floats are IEEE doubles held
as bits. There is one zero and one NaN: what gives a float gives one of these bits (`float_word`), so that equal floats
are equal words, and NaN is greater than all (decision 0013). Division by zero is found before anything is written; the
caller learns the first offending position.
Cost: one pass over the chunk per operation; the operation is chosen once per chunk.
"""

from __future__ import annotations

import math

from tidelog.store.blocks import Words
from tidelog.store.codes import EQ, FLOAT, GT, LE, LT, NE, UNSIGNED
from tidelog.store.kernels.raw import as_bits, as_float, inlined, kernel, lshr, sdiv, srem, udiv, ult, urem

OPERATIONS = (
    "+", "-", "*", "/", "%", "^", "band", "bor", "bxor", "bshl", "bshr", "bshru", "bnot", "land", "lor", "lxor",
    "lnot", "neg", "min", "max", "itou", "utoi", "itof", "utof", "ftoi", "ftou", "copy", "reread",
)  # fmt: skip
(
    ADD, SUB, MUL, DIV, MOD, POW, BAND, BOR, BXOR, BSHL, BSHR, BSHRU, BNOT, LAND, LOR, LXOR,
    LNOT, NEG, MIN, MAX, ITOU, UTOI, ITOF, UTOF, FTOI, FTOU, COPY, REREAD,
) = range(28)  # fmt: skip

NAN = 0x7FF8000000000000


@inlined
def float_word(x: float) -> int:
    """The bits of a float: of the one zero, or the one NaN, if it is one."""
    return NAN if x != x else as_bits(x + 0.0)


@inlined
def float_less(x: float, y: float) -> bool:
    """Whether x comes before y; NaN comes after everything else."""
    return x < y or (y != y and x == x)


@inlined
def less(a: int, b: int, kind: int) -> bool:
    if kind == FLOAT:
        return float_less(as_float(a), as_float(b))
    if kind == UNSIGNED:
        return ult(a, b)
    return a < b


@inlined
def compare(op: int, a: int, b: int, kind: int) -> bool:
    """a op b for values of a kind."""
    if op == EQ:
        return a == b
    if op == NE:
        return a != b
    if op == LT:
        return less(a, b, kind)
    if op == GT:
        return less(b, a, kind)
    if op == LE:
        return not less(b, a, kind)
    return not less(a, b, kind)


@kernel
def select(op: int, kind: int, a: Words, b: Words, m: int, chosen: Words) -> int:
    """List the positions where a op b holds; gives their number."""
    k = 0
    if op == EQ:
        for i in range(m):
            chosen[k] = i
            k += a[i] == b[i]
        return k
    if op == NE:
        for i in range(m):
            chosen[k] = i
            k += a[i] != b[i]
        return k
    for i in range(m):
        chosen[k] = i
        k += compare(op, a[i], b[i], kind)
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
        return a if float_less(a, b) else b
    return b if float_less(a, b) else a


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
def apply(op: int, kind: int, a: Words, b: Words, target: Words, m: int) -> int:
    """target := a op b; -1, or the position of the first division by zero."""
    if kind == FLOAT and op <= MAX:
        for i in range(m):
            target[i] = float_word(on_floats(op, as_float(a[i]), as_float(b[i])))
        return -1
    if op in (DIV, MOD):
        for i in range(m):
            if b[i] == 0:
                return i
    if op == ADD:
        for i in range(m):
            target[i] = a[i] + b[i]
    elif op == SUB:
        for i in range(m):
            target[i] = a[i] - b[i]
    elif op == MUL:
        for i in range(m):
            target[i] = a[i] * b[i]
    elif op == BAND:
        for i in range(m):
            target[i] = a[i] & b[i]
    elif op == BOR:
        for i in range(m):
            target[i] = a[i] | b[i]
    elif op == BXOR:
        for i in range(m):
            target[i] = a[i] ^ b[i]
    elif op == BNOT:
        for i in range(m):
            target[i] = ~a[i]
    elif op == LNOT:
        for i in range(m):
            target[i] = int(a[i] == 0)
    elif op == NEG:
        for i in range(m):
            target[i] = -a[i]
    elif op == ITOF:
        for i in range(m):
            target[i] = as_bits(float(a[i]))
    elif op == UTOF:
        for i in range(m):
            target[i] = as_bits(unsigned_to_float(a[i]))
    elif op == FTOI:
        for i in range(m):
            target[i] = float_to_int(as_float(a[i]))
    elif op == FTOU:
        for i in range(m):
            target[i] = float_to_unsigned(as_float(a[i]))
    elif op == REREAD:
        for i in range(m):
            target[i] = float_word(as_float(a[i]))
    elif op in (COPY, ITOU, UTOI):
        for i in range(m):
            target[i] = a[i]
    else:
        for i in range(m):
            target[i] = on_integers(op, a[i], b[i], kind == UNSIGNED)
    return -1
