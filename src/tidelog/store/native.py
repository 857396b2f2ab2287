"""The compiled kernels: object code from the user's cache, or compiled by numba once and put there.

What is always true: cached code is used only for the very sources, versions and processor that it was made for (they
are in its name), and only if its checksum is right. Calling needs llvmlite and ctypes; numba is imported only to
compile. Cost: loading takes some ten milliseconds, compiling tens of seconds; a call about two microseconds. Without
a writable cache the code is compiled in every process.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tidelog.cache import cache_directory

KERNELS = (
    "run_plan", "run_stratum", "now", "find_members", "update_index", "rehash_index", "rehash_identity",
    "rebuild_identity", "sample_blocks", "run_update", "find_rows",
    "number_texts", "rehash_texts", "match_rows", "mark_missing", "mark_returned",
)  # fmt: skip
ARGUMENTS = 6
SYMBOL = "tidelog_entry"

announce: Callable[[str], None] | None = None
"""Called with one line before a compilation that takes a while; the command line prints it."""

_lock = threading.Lock()
_loaded: Kernels | None = None
_engines: list[Any] = []  # the code goes when its engine goes


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
            _loaded = Kernels(_link(_object_code()))
        return _loaded


def _fingerprint() -> str:
    """Names everything that the object code depends on."""
    import llvmlite
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    here = Path(__file__).parent
    for source in sorted([*(here / "kernels").glob("*.py"), here / "layout.py", Path(__file__)]):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    features = llvm.get_host_cpu_features().flatten()
    numba = find_spec("numba")  # its version, without importing it
    if numba is not None and numba.origin is not None:
        digest.update(Path(numba.origin).with_name("_version.py").read_bytes())
    versions = [llvmlite.__version__, sys.version, sys.platform]
    digest.update("\0".join([*versions, llvm.get_host_cpu_name(), features]).encode())
    return digest.hexdigest()[:32]


def _object_code() -> bytes:
    path = cache_directory() / f"kernels-{_fingerprint()}.o"
    code = _read(path)
    if code is None:
        code = _compile()
        _write(path, code)
    return code


def _read(path: Path) -> bytes | None:
    """Cached code, unless there is none or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _write(path: Path, code: bytes) -> None:
    """Put code into the cache for the next process; a cache that cannot be written is no error."""
    own = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_bytes(hashlib.sha256(code).digest() + code)
        own.replace(path)
    except OSError:
        return


def _compile() -> bytes:
    """Compile all kernels to one piece of object code that defines SYMBOL."""
    if announce is not None:
        announce("compiling the evaluation kernels for this machine (once; about half a minute)")
    from numba import types
    from numba.core import config

    from tidelog.store.kernels.entry import entry

    signature = (types.int64,) * (ARGUMENTS + 1)
    vectorize = config.LOOP_VECTORIZE
    config.LOOP_VECTORIZE = 0  # a sixth less to compile; the kernels wait for memory and run no slower
    try:
        entry.compile(signature)
    finally:
        config.LOOP_VECTORIZE = vectorize
    compiled = entry.overloads[signature]
    library = compiled.library
    module = library._final_module  # linked with all that it calls, and optimised
    function = module.get_function(compiled.fndesc.llvm_func_name)
    function.name = SYMBOL
    function.linkage = "external"
    return bytes(library.codegen._tm.emit_object(module))


def _link(code: bytes) -> int:
    """Make object code callable; the address of SYMBOL."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(SYMBOL))
