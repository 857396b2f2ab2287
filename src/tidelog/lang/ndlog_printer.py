"""The NDlog dialect (`.ndlog`): tree to text. parse(print_program(p)) == p for every program that parse can give."""

from __future__ import annotations

import re

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.lang.depth import deep_recursion
from tidelog.lang.escapes import escape

_TERM, _PRODUCT, _UNARY, _POWER, _PRIMARY = range(5)
"""How tightly a printed term holds together; a looser one in a tighter place gets parentheses."""

_INFIX = {"+": _TERM, "-": _TERM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "^": _POWER}

_BARE = re.compile(r"(?!f_|not\b)[a-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")


def print_program(program: tree.Program) -> str:
    """The program as text, one item per line."""
    with deep_recursion():
        return "".join(_item(item) + "\n" for item in program.items)


def print_update(sign: str, atom: tree.Atom) -> str:
    """An update as parse_updates reads it."""
    with deep_recursion():
        return sign + print_literal(atom)


def _item(item: tree.Item) -> str:
    if isinstance(item, tree.Materialize):
        limits = ", ".join("infinity" if n is None else str(n) for n in (item.lifetime, item.size))
        return f"materialize({item.relation}, {limits}, keys({','.join(map(str, item.keys))}))."
    if isinstance(item, tree.Rule) and len(item.heads) == 1 and item.plan is None:
        label = f"{item.label}: " if item.label else ""
        body = f" :- {print_literal(item.body)}" if item.body is not None else ""
        return f"{label}{print_literal(item.heads[0])}{body}."
    raise InternalError(f"NDlog cannot say {type(item).__name__}")


def print_literal(literal: tree.Literal) -> str:
    match literal:
        case tree.Atom(name=name, args=(), at=None):
            return name
        case tree.Atom(name=name, args=args, at=at):
            shown = (("@" if i == at else "") + print_term(arg) for i, arg in enumerate(args))
            return f"{name}({', '.join(shown)})"
        case tree.Negation(body=tree.Atom() as atom):
            return "!" + print_literal(atom)
        case tree.Comparison(op=op, left=left, right=right):
            return f"{print_term(left)} {op} {print_term(right)}"
        case tree.Boolean(value=value):
            return "true" if value else "false"
        case tree.Conjunction(parts=parts):
            return ", ".join(map(print_literal, parts))
    raise InternalError(f"NDlog cannot say {type(literal).__name__}")


def print_term(term: tree.Term, within: int = _TERM) -> str:
    """The term, in parentheses where it stands `within` something that binds tighter."""
    text, holds = _term(term)
    return text if holds >= within else f"({text})"


def _term(term: tree.Term) -> tuple[str, int]:
    match term:
        case tree.Variable(name=name):
            return name, _PRIMARY
        case tree.Wildcard():
            return "_", _PRIMARY
        case tree.Number(value=value) | tree.Float(value=value):
            return repr(value), _PRIMARY if not repr(value).startswith("-") else _UNARY
        case tree.String(value=value):
            return value if _BARE.fullmatch(value) else escape(value), _PRIMARY
        case tree.Record(args=args):
            return f"[{', '.join(map(print_term, args))}]", _PRIMARY
        case tree.HeadAggregate(op=op, variable=variable):
            return f"{op}<{variable}>", _PRIMARY
        case tree.Functor(op="neg", args=(inner,)):
            return "-" + print_term(inner, _UNARY), _UNARY
        case tree.Functor(op=op, args=(left, right)) if op in _INFIX:
            return _infix(op, left, right), _INFIX[op]
        case tree.Functor(op=op, args=args):
            return f"{op}({', '.join(map(print_term, args))})", _PRIMARY
    raise InternalError(f"NDlog cannot say {type(term).__name__}")


def _infix(op: str, left: tree.Term, right: tree.Term) -> str:
    """All operators group to the left but `^`, whose right side may be anything unary."""
    strength = _INFIX[op]
    if op == "^":
        return f"{print_term(left, _PRIMARY)} ^ {print_term(right, _UNARY)}"
    return f"{print_term(left, strength)} {op} {print_term(right, strength + 1)}"
