"""Terms compiled to closures over a binding: a list with one place per variable of the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from tidelog.errors import InternalError
from tidelog.lang import tree
from tidelog.net.functions import FUNCTIONS
from tidelog.net.values import Value, value_of

Binding: TypeAlias = "list[Any]"
Evaluate: TypeAlias = Callable[[Binding], Value]


def variables_of(node: tree.SyntaxNode) -> Iterator[str]:
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
            return compile_terms(args, slots)
        case tree.Functor(op=op, args=(one,)):
            apply, part = FUNCTIONS[op].apply, compile_term(one, slots)
            return lambda binding: apply(part(binding))
        case tree.Functor(op=op, args=(one, other)):
            apply, part, second = FUNCTIONS[op].apply, compile_term(one, slots), compile_term(other, slots)
            return lambda binding: apply(part(binding), second(binding))
        case tree.Functor(op=op, args=args):
            apply, parts = FUNCTIONS[op].apply, compile_terms(args, slots)
            return lambda binding: apply(*parts(binding))
    raise InternalError(f"no value for {type(term).__name__}")


def compile_terms(terms: Sequence[tree.Term], slots: Mapping[str, int]) -> Callable[[Binding], tuple[Value, ...]]:
    """A function that gives the values of all the terms; of two or more variables in one step."""
    if len(terms) > 1 and all(isinstance(term, tree.Variable) for term in terms):
        return itemgetter(*(slots[term.name] for term in terms if isinstance(term, tree.Variable)))
    parts = [compile_term(term, slots) for term in terms]
    return lambda binding: tuple([part(binding) for part in parts])
