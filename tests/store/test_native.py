"""The kernel cache: found again, not trusted when damaged, not needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tidelog.store import native


def test_loading_cached_kernels_does_not_import_numba() -> None:
    native.load()
    code = "import sys, tidelog.store as s; s.Database(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_damaged_code_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "kernels.o"
    native._write(path, b"code")
    assert native._read(path) == b"code"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert native._read(path) is None
    path.write_bytes(b"")
    assert native._read(path) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    native._write(blocked / "deeper" / "kernels.o", b"code")
    assert native._read(blocked / "deeper" / "kernels.o") is None


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TIDELOG_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native.cache_directory() == tmp_path / "tidelog"
    monkeypatch.setenv("TIDELOG_CACHE", str(tmp_path / "own"))
    assert native.cache_directory() == tmp_path / "own"
