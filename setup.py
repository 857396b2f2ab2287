"""The build step that compiles the kernels into a shared library of a wheel, or of the sources if they are installed.

Everything else about the package is in `pyproject.toml`.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

SOURCE = Path(__file__).parent / "src"
sys.path.insert(0, str(SOURCE))


class BuildKernels(Command):
    """Put the compiled kernels beside their sources: in what is built, or, for an editable install, in the sources."""

    user_options = [("build-lib=", "b", "where packages are built")]  # noqa: RUF012 (setuptools wants a list)

    def initialize_options(self) -> None:
        self.build_lib, self.editable_mode = None, False

    def finalize_options(self) -> None:
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self) -> None:
        from tidelog.store.compiling import BASELINE, compiled
        from tidelog.store.native import SHIPPED, cached, digest_of_sources, keep

        os.environ.update(NUMBA_CPU_NAME=BASELINE, NUMBA_CPU_FEATURES="")
        place = SHIPPED if self.editable_mode else self.build_lib / SHIPPED.relative_to(SOURCE)
        digest = digest_of_sources()
        with TemporaryDirectory() as folder:
            found = cached(digest)
            made = found[0] if found else keep(compiled(Path(folder)), digest)
            place.parent.mkdir(parents=True, exist_ok=True)
            for old in place.parent.glob(f"{place.name}.*"):
                old.unlink()
            shutil.copyfile(made, place.with_suffix(made.suffix))

    def get_source_files(self) -> list[str]:
        return []

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class PlatformWheel(bdist_wheel):
    """A wheel for one platform, and any Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class OfOnePlatform(Distribution):
    def has_ext_modules(self) -> bool:
        return True


build.sub_commands = [*build.sub_commands, ("build_kernels", None)]
setup(distclass=OfOnePlatform, cmdclass={"build_kernels": BuildKernels, "bdist_wheel": PlatformWheel})
