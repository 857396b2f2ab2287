"""Terms compiled to closures over a binding: a list with one place per variable of the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.net.functions import FUNCTIONS
from tidelog.net.values import Value, value_of

Binding: TypeAlias = "list[Any]"
Evaluate: TypeAlias = Callable[[Binding], Value]


def variables_of(node: tree.Node) -> Iterator[str]:
    """The names of the variables in a term or literal, in textual order, with repetitions."""
    return (n.name for n in node.walk() if isinstance(n, tree.Variable))


def compile_term(term: tree.Term, slots: Mapping[str, int]) -> Evaluate:
    """A function that gives the term's value when all its variables are bound."""
    value = value_of(term)
    if value is not None:
        return lambda binding: value
    match term:
        case tree.Variable(name=name):
            slot = slots[name]
            return lambda binding: binding[slot]  # type: ignore[no-any-return]
        case tree.Record(args=args):
            parts = [compile_term(arg, slots) for arg in args]
            return lambda binding: tuple(part(binding) for part in parts)
        case tree.Functor(op=op, args=args):
            apply = FUNCTIONS[op].apply
            parts = [compile_term(arg, slots) for arg in args]
            return lambda binding: apply(*(part(binding) for part in parts))
    raise InternalError(f"no value for {type(term).__name__}")
