"""The compiled kernels: shipped, or found again in the cache; not trusted when damaged or made from other sources."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tidelog.store import native
from tidelog.store.compiling import linked

ELSEWHERE = "0" * 32


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The kernels of these sources as a file, wherever they are, while the cache is an empty folder."""
    native.load()
    digest = native.digest_of_sources()
    places = [native.SHIPPED.with_suffix(native.LIBRARY), *native.cached(digest)]
    monkeypatch.setenv("TIDELOG_CACHE", str(tmp_path / "cache"))
    return next(place for place in places if native._entry(place, digest) is not None)


def test_loading_kernels_imports_neither_numba_nor_llvm() -> None:
    native.load()
    code = "import sys, tidelog.store as s; s.Database(); print({'numba', 'llvmlite'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_code_says_which_sources_it_was_made_from(library: Path) -> None:
    made = ctypes.CDLL(str(library))
    digest = (ctypes.c_char * 32).in_dll(made, native.SOURCES).value.decode()
    assert digest == native.digest_of_sources()
    assert native._entry(library, digest) is not None
    assert native._entry(library, ELSEWHERE) is None


def test_what_is_no_library_is_not_used(tmp_path: Path) -> None:
    for suffix in (native.LIBRARY, native.OBJECT):
        assert native._entry(tmp_path / f"nothing{suffix}", ELSEWHERE) is None
    (tmp_path / "text.so").write_text("no code")
    assert native._entry(tmp_path / "text.so", ELSEWHERE) is None


def test_kept_code_is_found_again_unless_it_is_damaged(library: Path) -> None:
    digest = native.digest_of_sources()
    assert native.cached(digest) == []
    kept = native.keep(library, digest)
    assert native.cached(digest) == [kept]
    assert native.cached(ELSEWHERE) == []
    kept.write_bytes(kept.read_bytes()[:-1] + b"x")
    assert native.cached(digest) == []
    kept.write_bytes(b"")
    assert native.cached(digest) == []


def test_a_cache_that_cannot_be_written_is_no_error(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("TIDELOG_CACHE", str(blocked / "deeper"))
    assert native.keep(library, native.digest_of_sources()) == library
    assert native.cached(native.digest_of_sources()) == []


def test_an_object_file_is_used_where_there_is_no_linker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = f'@{native.SOURCES} = constant [33 x i8] c"{ELSEWHERE}\\00"\ndefine i64 @{native.ENTRY}() {{ ret i64 7 }}'
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")
    made = tmp_path / f"small{native.OBJECT}"
    made.write_bytes(machine.emit_object(llvm.parse_assembly(text)))
    library = linked(made)
    if library is not None:
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(native._entry(library, ELSEWHERE) or 0)() == 7
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert linked(made) is None
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(native._entry(made, ELSEWHERE) or 0)() == 7


def test_without_code_and_without_numba_the_error_says_what_to_install(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
sys.modules["numba"] = None
from tidelog.store import native
native.SHIPPED = Path({str(tmp_path)!r}) / "none"
native.find_spec = lambda name: None
try:
    native.load()
except Exception as problem:
    print(problem)
"""
    environment = {"TIDELOG_CACHE": str(tmp_path / "cache"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert "TL0914" in done.stdout
    assert "pip install 'tidelog[kernels]'" in done.stdout


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TIDELOG_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert native.cache_directory() == tmp_path / "tidelog"
    monkeypatch.setenv("TIDELOG_CACHE", str(tmp_path / "own"))
    assert native.cache_directory() == tmp_path / "own"
