"""Names with several meanings, and functions that exist twice: `python -m tools.names`.

A class name should stand for one thing in the whole of `src/`, and no function should have a twin that differs in
names and constants only. Private classes (`_Like`) and short functions are left out.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "tidelog"
FEWEST_NODES = 60
"""Functions with a smaller tree are alike by accident."""


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package, by their path in it."""
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def shared_class_names() -> dict[str, list[str]]:
    """The public classes of modules whose name stands in several, with the modules."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return {name: paths for name, paths in sorted(found.items()) if len(paths) > 1}


def twin_functions() -> list[list[str]]:
    """Functions whose trees are the same but for names, constants, annotations and docstrings."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and sum(1 for _ in ast.walk(node)) >= FEWEST_NODES:
                found[shape(node)].append(f"{path}:{node.lineno} {node.name}")
    return [places for places in found.values() if len(places) > 1]


def shape(function: ast.FunctionDef) -> str:
    """What is left of a function without names and constants."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return ";".join(_shape(statement) for statement in body)


def _shape(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return "Constant"
    parts = []
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "ctx"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                parts.append(_shape(part))
    return f"{type(node).__name__}({','.join(parts)})"


def main() -> None:
    for name, paths in shared_class_names().items():
        print(f"{name}: {', '.join(paths)}")
    for places in twin_functions():
        print("the same but for names and constants: " + ", ".join(places))


if __name__ == "__main__":
    main()
