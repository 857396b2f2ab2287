"""The tree back to Soufflé text; parse(print_program(p)) == p."""

from __future__ import annotations

from functools import singledispatch

from tidelog.functors import FUNCTORS
from tidelog.lang import tree
from tidelog.lang.escapes import escape


def print_program(program: tree.Program) -> str:
    return "".join(show(item) + "\n" for item in program.items)


@singledispatch
def show(node: tree.SyntaxNode) -> str:
    """One node as Soufflé writes it."""
    raise TypeError(f"{type(node).__name__} has no Soufflé syntax")


# ---- terms


@show.register
def _(node: tree.Variable) -> str:
    return node.name


@show.register
def _(node: tree.Wildcard) -> str:
    return "_"


@show.register
def _(node: tree.Number) -> str:
    return str(node.value)


@show.register
def _(node: tree.Unsigned) -> str:
    return f"{node.value}u"


@show.register
def _(node: tree.Float) -> str:
    text = format(node.value, "f")
    return text if float(text) == node.value and "inf" not in text else _exact_float(node.value)


def _exact_float(value: float) -> str:
    """All digits, without an exponent where that is readable; infinity as a literal that is too large."""
    text = repr(value).replace("inf", "1.0e999")
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text
    return (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent


@show.register
def _(node: tree.String) -> str:
    return escape(node.value)


@show.register
def _(node: tree.Nil) -> str:
    return "nil"


@show.register
def _(node: tree.Record) -> str:
    return f"[{_list(node.args)}]"


@show.register
def _(node: tree.Branch) -> str:
    return f"${node.name}({_list(node.args)})"


@show.register
def _(node: tree.Functor) -> str:
    style = FUNCTORS[node.op].style
    if style == "infix":
        left, right = node.args
        base = f"({show(left)})" if node.op == "^" and show(left).startswith("-") else show(left)
        return f"({base} {node.op} {show(right)})"
    if style == "prefix":
        op = "-" if node.op == "neg" else node.op
        return f"({op} {show(node.args[0])})"
    return f"{node.op}({_list(node.args)})"


@show.register
def _(node: tree.UserFunctor) -> str:
    return f"@{node.name}({_list(node.args)})"


@show.register
def _(node: tree.Cast) -> str:
    return f"as({show(node.term)}, {node.type})"


@show.register
def _(node: tree.Counter) -> str:
    return "autoinc()"


@show.register
def _(node: tree.Iteration) -> str:
    return "__ITERATION__()"


@show.register
def _(node: tree.Aggregate) -> str:
    target = "" if node.target is None else " " + show(node.target)
    return f"{node.op}{target} : {{ {show(node.body)} }}"


@show.register
def _(node: tree.UserAggregate) -> str:
    target = "" if node.target is None else " " + show(node.target)
    return f"@@{node.name}{target} : {show(node.init)}, {{ {show(node.body)} }}"


def _list(args: tuple[tree.Term, ...]) -> str:
    return ", ".join(map(show, args))


# ---- literals


@show.register
def _(node: tree.Atom) -> str:
    return f"{node.name}({_list(node.args)})"


@show.register
def _(node: tree.Negation) -> str:
    return f"!{_grouped(node.body)}"


@show.register
def _(node: tree.Comparison) -> str:
    if node.op in ("match", "contains"):
        return f"{node.op}({show(node.left)}, {show(node.right)})"
    if node.op in ("not_match", "not_contains"):
        return f"!{node.op.removeprefix('not_')}({show(node.left)}, {show(node.right)})"
    return f"{show(node.left)} {node.op} {show(node.right)}"


@show.register
def _(node: tree.Boolean) -> str:
    return "true" if node.value else "false"


@show.register
def _(node: tree.Conjunction) -> str:
    return ", ".join(_grouped(part) for part in node.parts)


@show.register
def _(node: tree.Disjunction) -> str:
    return " ; ".join(f"({show(p)})" if isinstance(p, tree.Disjunction) else show(p) for p in node.parts)


def _grouped(node: tree.Literal) -> str:
    return f"({show(node)})" if isinstance(node, (tree.Conjunction, tree.Disjunction)) else show(node)


# ---- clauses


@show.register
def _(node: tree.Rule) -> str:
    heads = ", ".join(map(show, node.heads))
    return f"{heads}." if node.body is None else f"{heads} :- {show(node.body)}.{_plan(node.plan)}"


@show.register
def _(node: tree.Subsumption) -> str:
    return f"{show(node.less)} <= {show(node.greater)} :- {show(node.body)}.{_plan(node.plan)}"


def _plan(plan: tree.ExecutionPlan | None) -> str:
    if plan is None:
        return ""
    orders = ", ".join(f"{version}:({', '.join(map(str, order))})" for version, order in plan.orders)
    return f" .plan {orders}"


# ---- declarations


@show.register
def _(node: tree.Attribute) -> str:
    name = f"{node.name}: " if node.name else ""
    return f"{name}{node.type}{'<>' if node.lattice else ''}"


def _attributes(attributes: tuple[tree.Attribute, ...]) -> str:
    return ", ".join(map(show, attributes))


@show.register
def _(node: tree.RelationDecl) -> str:
    head = f".decl {node.name}"
    head += f" = debug_delta({node.delta_of})" if node.delta_of else f"({_attributes(node.attributes)})"
    if node.choice:
        keys = ", ".join(k[0] if len(k) == 1 else f"({', '.join(k)})" for k in node.choice)
        return " ".join((head, *node.qualifiers, f"choice-domain {keys}"))
    return " ".join((head, *node.qualifiers))


@show.register
def _(node: tree.SubsetDefinition) -> str:
    return f".type {node.name} <: {node.base}"


@show.register
def _(node: tree.UnionDefinition) -> str:
    return f".type {node.name} = {' | '.join(node.members)}"


@show.register
def _(node: tree.RecordDefinition) -> str:
    return f".type {node.name} = [{_attributes(node.fields)}]"


@show.register
def _(node: tree.BranchDecl) -> str:
    return f"{node.name} {{{_attributes(node.fields)}}}"


@show.register
def _(node: tree.AlgebraicType) -> str:
    return f".type {node.name} = {' | '.join(map(show, node.branches))}"


@show.register
def _(node: tree.LatticeDecl) -> str:
    operators = ", ".join(f"{name} -> {show(term)}" for name, term in node.operators)
    return f".lattice {node.name}<> {{ {operators} }}"


@show.register
def _(node: tree.FunctorDecl) -> str:
    return f".functor {node.name}({_attributes(node.params)}): {node.result}{' stateful' if node.stateful else ''}"


@show.register
def _(node: tree.Directive) -> str:
    params = ", ".join(f"{key}={escape(value)}" for key, value in node.params)
    return f".{node.kind} {node.relation}{f'({params})' if params else ''}"


@show.register
def _(node: tree.Pragma) -> str:
    return f".pragma {escape(node.key)}{' ' + escape(node.value) if node.value else ''}"


@show.register
def _(node: tree.ComponentType) -> str:
    return node.name + (f"<{', '.join(node.params)}>" if node.params else "")


@show.register
def _(node: tree.Component) -> str:
    bases = f" : {', '.join(map(show, node.bases))}" if node.bases else ""
    body = "".join("  " + line + "\n" for item in node.items for line in show(item).split("\n"))
    return f".comp {show(node.type)}{bases} {{\n{body}}}"


@show.register
def _(node: tree.ComponentInit) -> str:
    return f".init {node.name} = {show(node.component)}"


@show.register
def _(node: tree.Override) -> str:
    return f".override {node.relation}"
