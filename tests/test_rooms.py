"""A folder with more than a dozen modules says in which order to read them, in its `__init__` or the one above."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tidelog

SOURCE = Path(tidelog.__file__).parent
MOST = 12
"""Modules that can be read without a guide."""


def large_folders() -> list[Path]:
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    return sorted(folder for folder in folders if folder != SOURCE and len(modules_of(folder)) > MOST)


def name_of(folder: Path) -> str:
    return folder.relative_to(SOURCE).as_posix()


def modules_of(folder: Path) -> set[str]:
    """Its modules, and the folders inside of it."""
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("folder", large_folders(), ids=name_of)
def test_a_large_folder_says_in_which_order_it_is_read(folder: Path) -> None:
    named = set(re.findall(r"\w+", guide(folder) + guide(folder.parent)))
    assert not modules_of(folder) - named


def guide(folder: Path) -> str:
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
