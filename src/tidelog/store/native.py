"""The compiled kernels: those that came with the package, or from the user's cache, or compiled and put there.

What is always true: code is used only for the very sources that it was made from, whose digest it carries; cached code
only if its checksum is right, which is in its name. A package has a shared library, made when it was built, which
ctypes loads in a millisecond; or an object file, if there was no linker, which llvmlite loads. Where the sources have
changed since, as they do for who develops kernels, numba compiles them once (`compiling`), which takes half a minute;
without a writable cache in every process. Cost of a call: about two microseconds.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tidelog.cache import cache_directory
from tidelog.errors import error

KERNELS = (
    "run_plan", "run_stratum", "now", "find_members", "update_index", "rehash_index", "rehash_identity",
    "rebuild_identity", "sample_blocks", "run_update", "find_rows",
    "number_texts", "rehash_texts", "match_rows", "mark_missing", "mark_returned", "split_lines",
    "run_rank_update",
)  # fmt: skip
ARGUMENTS = 6
ENTRY, SOURCES = "tidelog_entry", "tidelog_sources"
"""What the code defines: the function through which all kernels are called, and the digest of their sources."""
HERE = Path(__file__).parent
SHIPPED = HERE / "kernels" / "compiled"
"""Where a package has its code, but for the suffix."""
LIBRARY, OBJECT = ".so", ".o"

announce: Callable[[str], None] | None = None
"""Called with one line before a compilation that takes a while; the command line prints it."""

_lock = threading.Lock()
_loaded: Kernels | None = None
_owners: list[Any] = []  # the code goes when its owner goes


class Kernels:
    """One method per kernel: integers in, an integer out. The GIL is released meanwhile."""

    run_plan: Callable[[int], int]
    run_stratum: Callable[[int], int]
    now: Callable[[], int]
    find_members: Callable[[int, int, int, int, int, int], int]
    update_index: Callable[[int, int], int]
    rehash_index: Callable[[int, int, int, int], int]
    rehash_identity: Callable[[int, int, int], int]
    rebuild_identity: Callable[[int, int], int]
    sample_blocks: Callable[[int, int, int, int], int]
    run_update: Callable[[int], int]
    find_rows: Callable[[int, int, int, int, int], int]
    number_texts: Callable[[int, int, int, int, int, int], int]
    rehash_texts: Callable[[int], int]
    match_rows: Callable[[int, int, int, int, int, int], int]
    mark_missing: Callable[[int, int, int], int]
    mark_returned: Callable[[int, int, int, int, int, int], int]
    split_lines: Callable[[int], int]
    run_rank_update: Callable[[int], int]

    def __init__(self, pointer: int) -> None:
        word = ctypes.c_int64
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[word] * (ARGUMENTS + 1))
        self._entry = kind(pointer)
        for number, name in enumerate(KERNELS):
            setattr(self, name, self._caller(number))

    def _caller(self, number: int) -> Callable[..., int]:
        entry, word, pointer, reference = self._entry, ctypes.c_int64, ctypes.c_void_p, ctypes.byref

        def call(a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0) -> int:
            result, error = word(), pointer()
            entry(reference(result), reference(error), number, a, b, c, d, e, f)
            return result.value

        return call


def load() -> Kernels:
    """The kernels, loaded or compiled when first asked for."""
    global _loaded
    with _lock:
        if _loaded is None:
            digest = _known_digest()
            _loaded = Kernels(_shipped(digest) or _cached(digest) or _compiled(digest))
        return _loaded


def digest_of_sources() -> str:
    """Names all that the code is made from, but for the compiler."""
    from hashlib import sha256

    digest = sha256()
    for source in _sources():
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:32]


def _sources() -> list[Path]:
    besides = [HERE / name for name in ("blocks.py", "codes.py", "compiling.py", "native.py")]
    return sorted([*(HERE / "kernels").glob("*.py"), *besides])


def _known_digest() -> str:
    """The same, not worked out again so long as no source has another size or time: it takes 4 ms of every start."""
    place = cache_directory() / "kernels-digest"
    stats = [(source, source.stat()) for source in _sources()]
    signature = "\n".join(f"{source} {stat.st_size} {stat.st_mtime_ns}" for source, stat in stats)
    with suppress(OSError, ValueError):
        seen, _, digest = place.read_text(encoding="utf-8").rpartition("\n")
        if seen == signature and len(digest) == 32:
            return digest
    digest = digest_of_sources()
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(f"{signature}\n{digest}", encoding="utf-8")
        temporary.replace(place)
    return digest


def _shipped(digest: str) -> int | None:
    """The entry of the package's code, if it has any that belongs to its sources."""
    return _entry(SHIPPED.with_suffix(LIBRARY), digest) or _entry(SHIPPED.with_suffix(OBJECT), digest)


def _cached(digest: str) -> int | None:
    """The entry of code from the cache, unless there is none or it is damaged."""
    return next((entry for path in cached(digest) if (entry := _entry(path, digest))), None)


def cached(digest: str) -> list[Path]:
    """Undamaged code of the cache for these sources, a library first, made by the numba that is here, if one is."""
    found = sorted(cache_directory().glob(f"kernels-{_compiler(digest)}-*"), reverse=True)
    return [path for path in found if path.suffix in (LIBRARY, OBJECT) and path.stem[-16:] == _checksum(path)]


def _compiler(digest: str) -> str:
    """Names the sources with the version of numba, which is not imported for that."""
    numba = find_spec("numba")
    if numba is None or numba.origin is None:
        return digest
    version = Path(numba.origin).with_name("_version.py").read_bytes()
    from hashlib import sha256

    return sha256(digest.encode() + version + sys.platform.encode()).hexdigest()[:32]


def _checksum(path: Path) -> str:
    from hashlib import sha256

    try:
        return sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def keep(made: Path, digest: str) -> Path:
    """Put code into the cache for the next process; its place there, or where it was if the cache cannot be written."""
    cache = cache_directory()
    own = cache / f"{os.getpid()}{made.suffix}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        own.write_bytes(made.read_bytes())
        return own.replace(cache / f"kernels-{_compiler(digest)}-{_checksum(own)}{made.suffix}")
    except OSError:
        return made


def _compiled(digest: str) -> int:
    """The entry of code that is compiled now."""
    from tempfile import TemporaryDirectory

    if find_spec("numba") is None:
        raise error(
            "TL0914", "there are no compiled kernels that belong to these sources, and no numba to compile them",
            help="install a wheel of Tidelog for this platform, or `pip install 'tidelog[kernels]'`",
        )  # fmt: skip
    from tidelog.store.compiling import compiled

    if announce is not None:
        announce("compiling the evaluation kernels (once; about half a minute)")
    with TemporaryDirectory() as folder:
        entry = _entry(keep(compiled(Path(folder)), digest), digest)
    assert entry is not None
    return entry


def _entry(path: Path, digest: str) -> int | None:
    """The address of ENTRY in a library or object file; None if it is not there or was made from other sources."""
    if not path.exists():
        return None
    try:
        address = _from_library(path) if path.suffix == LIBRARY else _from_object(path)
        found = ctypes.string_at(address(SOURCES)).decode()
        return address(ENTRY) if found == digest else None
    except (OSError, ImportError, ValueError):  # of another platform, or llvmlite is not there
        return None


def _from_library(path: Path) -> Callable[[str], int]:
    """Addresses by name, in a shared library."""
    library = ctypes.CDLL(str(path))
    _owners.append(library)
    return lambda name: ctypes.addressof(ctypes.c_char.in_dll(library, name))


def _from_object(path: Path) -> Callable[[str], int]:
    """Addresses by name, in an object file."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(path.read_bytes()))
    engine.finalize_object()
    _owners.append(engine)
    return lambda name: engine.get_global_value_address(name) or engine.get_function_address(name)
