"""Floats in the DataFrame executor mean what they mean in the columnar one: one zero, one NaN, one order."""

from __future__ import annotations

import math
from typing import Any

from frame_subject import FrameSubject

import oracle
from strategies.engine import checked_program, evaluate
from strategies.programs import Example

EVERYTHING = """
.type R = [x: float, k: number]
.decl e(k: number, x: float)
.input e
.decl functors(k: number, x: float)
functors(1, x + y) :- e(_, x), e(_, y).
functors(2, x - y) :- e(_, x), e(_, y).
functors(3, x * y) :- e(_, x), e(_, y).
functors(4, x / y) :- e(_, x), e(_, y).
functors(5, x ^ y) :- e(_, x), e(_, y).
functors(6, min(x, y)) :- e(_, x), e(_, y).
functors(7, max(x, y)) :- e(_, x), e(_, y).
functors(8, -x) :- e(_, x).
functors(9, to_float(to_string(x * 0.0))) :- e(_, x).
functors(10, x) :- x = range(0.0, 1.0, 0.1).
functors(11, x) :- e(_, y), x = range(0.0, y * 0.0, 1.0).
functors(12, x) :- x = range(2.5, 1.0, 0.0).
.decl whole(k: number, n: number)
whole(1, n) :- n = range(3, 1, 0).
whole(2, n) :- n = range(3, 3, 0).
whole(3, ftoi(x)) :- e(_, x).
whole(4, ord(x * 0.0)) :- e(_, x).
.decl compared(op: symbol, x: float, y: float)
compared("=", x, y) :- e(_, x), e(_, y), x = y.
compared("!=", x, y) :- e(_, x), e(_, y), x != y.
compared("<", x, y) :- e(_, x), e(_, y), x < y.
compared("<=", x, y) :- e(_, x), e(_, y), x <= y.
compared(">", x, y) :- e(_, x), e(_, y), x > y.
compared(">=", x, y) :- e(_, x), e(_, y), x >= y.
.decl absent(x: float)
absent(x) :- functors(8, x), !e(_, x).
.decl folded(k: number, s: float, m: float, a: float, b: float)
folded(k, s, m, a, b) :- e(k, _), s = sum x : { e(k, x) }, m = mean x : { e(k, x) }, a = min x : { e(k, x) },
    b = max x : { e(k, x) }.
.decl packed(r: R)
packed([x * 0.0, k]) :- e(k, x).
.decl unpacked(x: float)
unpacked(x) :- packed([x, _]), x <= 0.0.
"""
VALUES = (0.0, 1.0, -1.5, 0.1, 1e308, 1e16, -1e16, math.inf, -math.inf, oracle.NAN)
E_AND_MAX = """
.decl e(k: number, f: float)
.input e
.decl g(f: float)
.input g
.decl r(f: float)
r(f) :- e(0, f).
r(max(f, h)) :- r(f), e(_, h).
.decl q(f: float)
q(f) :- e(0, f).
q(f * h) :- q(f), g(h).
.decl s(x: float)
s(x) :- x = sum f : { e(_, f) }.
"""


def test_what_is_found_is_what_the_columnar_executor_finds(spark: Any) -> None:
    facts = {"e": {(k, x) for i, x in enumerate(VALUES) for k in (i // 7, 5)} | {(7, oracle.NAN), (8, -5e-324)}}
    example = Example(EVERYTHING, facts)
    wanted = evaluate(example, checked_program(EVERYTHING))
    subject = FrameSubject(spark, EVERYTHING, "batch")
    subject.bootstrap(facts)
    assert subject.relations() == wanted


def test_zeros_and_nans_of_frames_are_one_and_go_by_value(spark: Any) -> None:
    facts = {"e": {(0, oracle.NAN), (0, 0.5), (1, oracle.NAN), (1, -1.0), (0, -0.0)}, "g": {(0.0,)}}
    subject = FrameSubject(spark, E_AND_MAX, "update-paper")
    subject.bootstrap(facts)
    subject.update({"e": {(0, oracle.NAN), (1, -1.0), (0, 0.0)}}, {"e": {(3, 0.1), (4, 1e16), (5, -1e16)}})
    fresh = FrameSubject(spark, E_AND_MAX, "update-paper")
    fresh.bootstrap({"e": {(0, 0.5), (1, oracle.NAN), (3, 0.1), (4, 1e16), (5, -1e16)}, "g": {(0.0,)}})
    assert subject.state() == fresh.state()
    assert subject.rows("q") == {(0.5,), (0.0,)}
