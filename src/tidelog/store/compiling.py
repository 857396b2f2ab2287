"""Kernels to machine code: what the build step of a package does, and a process that finds none that fits.

What it gives: one piece of position-independent code for all kernels, for any processor of the last ten years and more,
that depends on nothing of Python; as a shared library where there is a linker, else as an object file. Both carry the
digest of the sources that they were made from. Only here, in `kernels/`, and where an object file is loaded is LLVM
used. Cost: half a minute of a processor.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tidelog.store.native import ARGUMENTS, ENTRY, LIBRARY, OBJECT, SOURCES, digest_of_sources

BASELINE = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}.get(platform.machine(), "generic")
"""The processor that code is made for."""
LINKERS = ("cc", "gcc", "clang", "ld")


def compiled(folder: Path) -> Path:
    """All kernels compiled into a file of the folder."""
    made = folder / f"compiled{OBJECT}"
    made.write_bytes(object_code())
    return linked(made) or made


def object_code(processor: str = BASELINE) -> bytes:
    """All kernels as one object file that defines ENTRY and SOURCES."""
    import llvmlite.binding as llvm
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
    found = entry.overloads[signature]
    module = found.library._final_module  # linked with all that it calls, and optimised
    for symbol in [*module.functions, *module.global_variables]:
        if not symbol.is_declaration:
            symbol.linkage = "internal"  # called directly, and not through a table of the shared library
    function = module.get_function(found.fndesc.llvm_func_name)
    function.name = ENTRY
    function.linkage = "external"
    module.link_in(_with_digest(module))
    target = llvm.Target.from_triple(module.triple)
    machine = target.create_target_machine(cpu=processor, opt=3, reloc="pic", codemodel="small")
    return bytes(machine.emit_object(module))


def _with_digest(like: Any) -> Any:
    """A module that has nothing but the digest."""
    import llvmlite.binding as llvm

    text = digest_of_sources()
    module = llvm.parse_assembly(f'@{SOURCES} = constant [{len(text) + 1} x i8] c"{text}\\00"')
    module.triple, module.data_layout = like.triple, like.data_layout
    return module


def linked(made: Path) -> Path | None:
    """An object file as a shared library beside it; None if no linker makes one that can be loaded.

    It is linked with nothing: the one symbol that it does not define, `pow`, is in every process that runs Python, and
    so it does not ask for the C library of the machine where it was made.
    """
    library = made.with_suffix(LIBRARY)
    for linker in dict.fromkeys([*os.environ.get("CC", "").split()[:1], *LINKERS]):
        if shutil.which(linker) is None:
            continue
        options = ["-shared", "-s"]
        if sys.platform == "linux":
            options += ["-nostdlib", "-z", "now", "-z", "noexecstack"]
        done = subprocess.run([linker, *options, "-o", str(library), str(made)], capture_output=True, check=False)
        if done.returncode == 0 and _can_be_loaded(library):
            return library
    return None


def _can_be_loaded(library: Path) -> bool:
    try:
        return hasattr(ctypes.CDLL(str(library)), ENTRY)
    except OSError:
        return False
