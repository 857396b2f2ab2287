"""Every block of code in the documentation does what the page says. README's are run from a wheel (`test_wheel.py`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pages import Runner, blocks
from pyarrow import parquet

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
RUN = [page for page in PAGES if any(block.language != "text" for block in blocks(page))]
ON_SPARK = [page for page in RUN if any("SparkSession.builder" in block.text for block in blocks(page))]
TOGETHER = [[page] for page in RUN if page not in ON_SPARK] + [ON_SPARK]
"""Pages that start Spark do so in one process, which has one JVM."""
FACTS = {
    "edge": "1\t2\n2\t3\n3\t4\n4\t2\n",
    "calls": "shop\tcart\ncart\tdb\nsearch\tdb\n",
    "down": "cart\n",
    "name": "anna\nhannah\nanne\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the pages take for granted: a program, facts in some formats, functors, the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "reach" / "reach.dl", tmp_path)
    (tmp_path / "facts").mkdir()
    for name, lines in FACTS.items():
        (tmp_path / "facts" / f"{name}.facts").write_text(lines)
    for name, line in (("edges", "1,2\n2,3\n4,5\n"), ("new", "6,1\n"), ("old", "2,3\n")):
        (tmp_path / f"{name}.csv").write_text(line)
    (tmp_path / "functors.py").write_text("def one() -> int:\n    return 1\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.nt").write_text('<http://a.org/x> <http://a.org/name> "x" .\n')
    for name in ("edges", "incoming"):
        (tmp_path / name).mkdir()
        parquet.write_table(pa.table({"from": [1, 2, 3], "to": [2, 3, 5]}), tmp_path / name / "part-0.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "pages", TOGETHER, ids=lambda pages: " ".join(str(p.relative_to(ROOT / "docs")) for p in pages)
)
def test_the_code_of_a_page_runs_as_it_is_printed(pages: list[Path], folder: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("pages.py")), *map(str, pages)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    unknown = [f"{page.name}:{b.line}" for b in blocks(page) if not hasattr(Runner, f"run_{b.language}")]
    assert unknown == []
