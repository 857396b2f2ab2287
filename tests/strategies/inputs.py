"""Program texts that are mostly wrong: token soup, mutations of the corpus, deep nesting, long chains."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from strategies.values import Chooser, Written

CORPUS = Path(__file__).parents[1] / "corpus"
DIALECTS = {".dl": "souffle", ".ndlog": "ndlog", ".rules": "rules"}

_TOKENS = r"""
.decl .type .input .output .printsize .limitsize .comp .init .override .functor .pragma .plan .lattice .include .once
p q r x y z T C _ nil $ $B @f @@f 0 1 -1 0x1F 0b1 5u 1.5 1.2.3.4 "a" "" "\ ( ) [ ] { } < > <> , ; : :- . ! = != <= >=
+ - * / % ^ ** band bor bxor bshl bshr bshru bnot land lor lxor lnot cat strlen substr ord to_number to_string itou
as( min max sum count mean range match contains true false number symbol unsigned float inline eqrel brie choice-domain
autoinc() __LINE__ debug_delta | -> <: // /* */ # #define #if #endif #include @[ é"""
_NDLOG = """
materialize ( ) @ X Y p q link r1 : :- . , < > min<C> a_MIN<C> f_init ! := = + - * / [ ] 1 2.5 "a" infinity keys true
false % // /* */ _ NOT"""
_RULES = """
[ ] , ?x ?y :p :q a @prefix : <http://a/> . :- NOT FILTER BIND AS AGGREGATE ON COUNT SUM ( ) = < > + 1 2.5 "a" "a"@en
^^ EXISTS IN # owl:sameAs ; !"""
_BLANK = ["\n", "\t", "\0"]
SOUP = {
    "souffle": [*_TOKENS.split(), *_BLANK],
    "ndlog": [*_NDLOG.split(), *_BLANK],
    "rules": [*_RULES.split(), *_BLANK],
}


def soup(dialect: str) -> SearchStrategy[str]:
    def write(choose: Chooser) -> str:
        tokens = [choose.pick(SOUP[dialect]) for _ in choose.repeat(0, 60, 9)]
        return choose.pick((" ", "", "\n")).join(tokens)

    return Written(write)


@cache
def corpus(suffix: str) -> tuple[str, ...]:
    paths = sorted(CORPUS.glob(f"**/*{suffix}"))
    return tuple(path.read_text(encoding="utf-8", errors="surrogateescape") for path in paths)


def mutations(suffix: str) -> SearchStrategy[str]:
    """A program of the corpus after one to four accidents."""

    def write(choose: Chooser) -> str:
        text = choose.pick(corpus(suffix))
        for _ in choose.repeat(1, 4):
            text = choose.pick(ACCIDENTS)(choose, text, suffix)
        return text

    return Written(write)


def cut(choose: Chooser, text: str, suffix: str) -> str:
    start = choose.upto(len(text))
    return text[:start] + text[start + choose.pick((1, 2, 5, 20, 100)) :]


def double(choose: Chooser, text: str, suffix: str) -> str:
    start, length = choose.upto(len(text)), choose.pick((1, 5, 20, 100))
    return text[: start + length] + text[start:]


def insert_token(choose: Chooser, text: str, suffix: str) -> str:
    start = choose.upto(len(text))
    return text[:start] + choose.pick(SOUP[DIALECTS[suffix]]) + text[start:]


def replace_character(choose: Chooser, text: str, suffix: str) -> str:
    start = choose.upto(len(text))
    return text[:start] + chr(choose.pick((0, 9, 10, 34, 40, 41, 46, 47, 92, 95, 123, 125, 233))) + text[start + 1 :]


def swap_words(choose: Chooser, text: str, suffix: str) -> str:
    words = text.split(" ")
    a, b = choose.upto(len(words) - 1), choose.upto(len(words) - 1)
    words[a], words[b] = words[b], words[a]
    return " ".join(words)


def drop_line(choose: Chooser, text: str, suffix: str) -> str:
    lines = text.split("\n")
    del lines[choose.upto(len(lines) - 1)]
    return "\n".join(lines)


def graft(choose: Chooser, text: str, suffix: str) -> str:
    """The beginning of this program and the end of another one."""
    other = choose.pick(corpus(suffix))
    return text[: choose.upto(len(text))] + other[choose.upto(len(other)) :]


ACCIDENTS: tuple[Callable[[Chooser, str, str], str], ...] = (
    cut, double, insert_token, replace_character, swap_words, drop_line, graft,
)  # fmt: skip


# ---- deep and long

_NUMBERS = ".decl p(x: number)\n.decl q(x: number)\n"

NESTED: dict[str, tuple[str, str, str, str, str]] = {
    # before, opening, middle, closing, after
    "parentheses": (_NUMBERS + "p(", "(", "1", ")", ")."),
    "records": (".type L = [h: number, t: L]\n.decl p(x: L)\np(", "[1, ", "nil", "]", ")."),
    "branches": (".type B = B {b: B} | N {}\n.decl p(x: B)\np(", "$B(", "$N()", ")", ")."),
    "minus": (_NUMBERS + "p(", "-", "x", "", ") :- q(x)."),
    "spaced minus": (_NUMBERS + "p(", "- ", "1", "", ")."),
    "bnot": (_NUMBERS + "p(", "bnot ", "1", "", ")."),
    "casts": (_NUMBERS + "p(", "as(", "1", ", number)", ")."),
    "calls": (".decl p(x: symbol)\np(", 'cat("a", ', '"b"', ")", ")."),
    "user functors": (".functor f(x: number): number\n" + _NUMBERS + "p(", "@f(", "1", ")", ")."),
    "aggregates": (_NUMBERS + "p(1) :- ", "1 = count : { ", "q(_)", " }", "."),
    "aggregate targets": (_NUMBERS + "p(1) :- 1 = ", "sum ", "1", " : { q(_) }", "."),
    "negations": (_NUMBERS + "p(1) :- ", "!", "q(1)", "", "."),
    "groups": (_NUMBERS + "p(1) :- ", "(", "q(1)", ")", "."),
    "negated groups": (_NUMBERS + "p(1) :- ", "!(", "q(1)", ")", "."),
    "disjunctions": (_NUMBERS + "p(1) :- ", "(q(2) ; ", "q(1)", ")", "."),
    "conjunctions": (_NUMBERS + "p(1) :- ", "(q(2), ", "q(1)", ")", "."),
    "mixed groups": (_NUMBERS + "p(1) :- ", "(q(2), (q(3) ; ", "q(1)", "))", "."),
    "components": ("", ".comp C { ", "", " }", ""),
    "comments": ("", "/* ", "", " */", ""),
    "conditions": ("", "#if 1\n", "p().", "\n#endif\n", ""),
    "powers": (_NUMBERS + "p(", "2 ^ (", "1", ")", ")."),
    "annotations": ("", "@[", "", "]", ".decl p()"),
    "only opening parentheses": ("p(", "(", "", "", ""),
    "only opening braces": ("", "{", "", "", ""),
    "only closing brackets": ("", "]", "", "", ""),
    "only quotes": ("", '"', "", "", ""),
    "open comments": ("", "/*", "", "", ""),
    "comment ends": ("", "*/", "", "", ""),
}


def _inlined(n: int, rules: str) -> str:
    """A chain of inline relations, used plainly and negated."""
    declared = "".join(f".decl p{i}(x: number) inline\n" for i in range(n)) + f".decl p{n}(x: number)\np{n}(1).\n"
    used = f".decl q(x: number)\nq(x) :- p0(x).\nq(x) :- p{n}(x), !p0(x).\n"
    return declared + "".join(rules.format(i=i, j=i + 1) for i in range(n)) + used


LONG: dict[str, Callable[[int], str]] = {
    "sums": lambda n: _NUMBERS + "p(" + " + ".join(["1"] * n) + ").",
    "powers in a row": lambda n: _NUMBERS + "p(" + " ^ ".join(["1"] * n) + ").",
    "mixed operators": lambda n: _NUMBERS + "p(" + " + 2 * 3 ^ - 1 band ".join(["1"] * n) + ").",
    "conjunctions in a row": lambda n: _NUMBERS + "p(1) :- " + ", ".join(["q(1)"] * n) + ".",
    "disjunctions in a row": lambda n: _NUMBERS + "p(1) :- " + " ; ".join(["q(1)"] * n) + ".",
    "products of disjunctions": lambda n: _NUMBERS + "p(1) :- " + ", ".join(["(q(1) ; q(2))"] * n) + ".",
    "heads": lambda n: _NUMBERS + ", ".join(["p(1)"] * n) + " :- q(1).",
    "arguments": lambda n: _NUMBERS + "p(" + ", ".join(["1"] * n) + ").",
    "facts": lambda n: _NUMBERS + "p(1).\n" * n,
    "rules": lambda n: _NUMBERS + "p(x) :- q(x).\n" * n,
    "relations": lambda n: "".join(f".decl p{i}(x: number)\n" for i in range(n)),
    "unions": lambda n: ".type A = " + " | ".join(["number"] * n),
    "chains of subtypes": lambda n: ".type A0 <: number\n" + "".join(
        f".type A{i + 1} <: A{i}\n" for i in range(n)) + f".decl p(x: A{n})\np(1).",
    "chains of names": lambda n: "".join(f".type A{i} = A{i + 1}\n" for i in range(n)) + f".type A{n} = number\n",
    "chains of relations": lambda n: "".join(f".decl p{i}(x: number)\n" for i in range(n + 1)) + "".join(
        f"p{i}(x) :- p{i + 1}(x).\n" for i in range(n)),
    "cycles of relations": lambda n: "".join(f".decl p{i}(x: number)\n" for i in range(n + 1)) + "".join(
        f"p{i}(x) :- p{(i + 1) % n}(x).\n" for i in range(n)),
    "inline relations": lambda n: _inlined(n, "p{i}(x) :- p{j}(x).\n"),
    "chains of components": lambda n: ".comp C0 { .decl p(x: number) }\n" + "".join(
        f".comp C{i + 1} : C{i} {{}}\n" for i in range(n)) + f".init c = C{n}",
    "chains of equations": lambda n: _NUMBERS + "p(x0) :- " + ", ".join(
        f"x{i} = x{i + 1}" for i in range(n)) + f", q(x{n}).",
    "strings": lambda n: '.decl p(x: symbol)\np("' + "ab" * n + '").',
    "names": lambda n: f".decl {'p' * n}(x: number)",
    "numbers": lambda n: _NUMBERS + f"p({'9' * n}).",
    "hexadecimal numbers": lambda n: _NUMBERS + f"p(0x{'f' * n}).",
    "floats": lambda n: f".decl p(x: float)\np({'9' * n}.{'9' * n}).",
    "dots": lambda n: "." * n,
    "qualified names": lambda n: "a." * n + "a(1).",
    "blanks": lambda n: " \n\t" * n,
    "directives of the preprocessor": lambda n: "#define A 1\n" * n,
    "half-open comments": lambda n: "/* /* */ " * n,
    "annotations in a row": lambda n: "@[a(b)] " * n + ".decl p()",
    "open annotations": lambda n: "@[ " * n,
    "fans of inline relations": lambda n: _inlined(n, "p{i}(x) :- p{j}(x).\np{i}(x) :- p{j}(x), x > {i}.\n"),
    "slashes": lambda n: "/" * n,
    "backslashes": lambda n: '"' + "\\" * n,
    "ats": lambda n: "@[" + "(" * n,
}  # fmt: skip


def nested(name: str, depth: int) -> str:
    before, opening, middle, closing, after = NESTED[name]
    return before + opening * depth + middle + closing * depth + after
