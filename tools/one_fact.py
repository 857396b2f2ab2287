"""The files of the functions in `docs/dev/one-fact.md`: `python -m tools.one_fact` writes them anew."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tools.names import trees

PAGE = Path(__file__).parents[1] / "docs" / "dev" / "one-fact.md"
STEP = re.compile(r"^\| (\d) \| `([\w.]+)` \| `([^`]*)` \|", re.MULTILINE)


def files_of(name: str) -> list[str]:
    """The modules that define a function, or a class with a method."""
    owner, _, function = name.rpartition(".")
    found = []
    for path, tree in trees().items():
        bodies = [tree.body]
        if owner:
            bodies = [node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner]
        if any(isinstance(node, ast.FunctionDef) and node.name == function for body in bodies for node in body):
            found.append(path)
    return found


def written_anew(page: str) -> str:
    """The page with the file of each function."""

    def file(match: re.Match[str]) -> str:
        number, name, before = match.groups()
        found = files_of(name)
        if before not in found and len(found) != 1:
            raise SystemExit(f"{name} is in {', '.join(found) or 'no file'}: name its file in {PAGE.name}")
        return f"| {number} | `{name}` | `{before if before in found else found[0]}` |"

    return STEP.sub(file, page)


def main() -> None:
    PAGE.write_text(written_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
