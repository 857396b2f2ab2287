"""A real graph that every machine with Python has: which module of the standard library imports which."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

SKIPPED = {"test", "tests", "idlelib", "lib2to3", "site-packages", "__pycache__", "turtledemo"}


def import_graph() -> list[tuple[str, str]]:
    """All pairs (module, imported module) of the library, sorted."""
    root = Path(sysconfig.get_paths()["stdlib"])
    names = {name: path for path in sorted(root.rglob("*.py")) if (name := _name(path.relative_to(root)))}
    edges = {(name, found) for name, path in names.items() for found in _imported(path, name) if found != name}
    return sorted(edge for edge in edges if edge[1] in names or edge[1] in sys.builtin_module_names)


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    if SKIPPED.intersection(parts):
        return ""
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, name: str) -> Iterator[str]:
    try:
        module = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return  # the library has files that are not meant to be parsed
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)
