"""Imports point one way through the layers (docs/dev/architecture.md)."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "tidelog"

LAYERS = [
    "version", "plain", "arrow", "cache", "errors", "room", "deadline", "values", "floats", "functors", "patterns",
    "formats",
    "lang", "analysis", "plan", "store", "io", "evaluate", "epochs", "wire", "exchange", "net", "state", "local",
    "spark", "rdf", "explain", "session", "cli", "__main__",
]  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "tidelog" else [f"tidelog.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("tidelog.")}
    return found


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent != SOURCE or p.stem != "__init__"], ids=str)
def test_a_module_imports_only_from_its_own_layer_and_those_above(path: Path) -> None:
    here = LAYERS.index(layer_of(path))
    wrong = {name for name in imported_layers(path) if LAYERS.index(name) > here}
    assert not wrong, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(wrong))} from a layer below"


def test_every_folder_has_a_layer() -> None:
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir() and not p.name.startswith("__")}
    assert folders <= set(LAYERS)


def test_the_planner_knows_nothing_of_how_plans_are_executed() -> None:
    for path in (SOURCE / "plan").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import numba" not in text
        assert "import pyspark" not in text
