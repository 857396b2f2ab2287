"""The code blocks of a page of the documentation, and what it means to run them.

    python pages.py docs/guide.md …    runs the blocks of pages one after the other, in the current folder

Commands of `make` are passed over: they belong to a checkout, and CI runs them.

The language of a block says how it runs:

| language | |
|---|---|
| `sh` | commands of bash; lines that begin with `>> ` are typed into the last of them |
| `console` | commands behind `$ `, and what they print; numbers with a decimal point are times, and may differ |
| `python` | statements; names live to the end of the page; a first line `# name.py` makes it a file, too |
| `prolog` | a program; a first line `// name.dl` makes it a file, to which later blocks without a name are added |
| `ndlog` | what a file in `examples/net` has, or its beginning if `… n more lines` follow |
| `sql` | statements for duckdb |
| `text` | nothing to run |
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its lines, and the number of the first of them."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text()
    return [Block(m[2], m[3], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


class Runner:
    """Runs the blocks of a page in the current folder, whose `examples` is the project's."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.program: Path | None = None

    def run(self) -> None:
        for block in blocks(self.page):
            print(f"---- {self.page.name}:{block.line} {block.language}", flush=True)
            getattr(self, f"run_{block.language}")(block)

    def run_text(self, block: Block) -> None:
        pass

    def run_python(self, block: Block) -> None:
        named = re.match(r"# (\S+\.py)\n", block.text)
        if named:
            Path(named[1]).write_text(block.text)
        exec(compile("\n" * (block.line - 1) + block.text, self.page, "exec"), self.names)

    def run_sh(self, block: Block) -> None:
        lines = block.text.splitlines()
        typed = [line.removeprefix(">> ") for line in lines if line.startswith(">> ")]
        commands = "\n".join(line for line in lines if not line.startswith((">> ", "make ")))
        subprocess.run(["bash", "-euc", commands], input="\n".join(typed) + "\n", text=True, check=True)

    def run_console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command = re.match(r"(.*\\\n)*.*\n?", part)
            assert command is not None
            done = subprocess.run(["bash", "-euc", command[0]], capture_output=True, text=True, check=True)
            assert _timeless(done.stdout) == _timeless(part[command.end() :])

    def run_prolog(self, block: Block) -> None:
        from tidelog.errors import Report
        from tidelog.lang.load import parse_program

        named = re.match(r"// (\S+\.dl)", block.text)
        if named:
            self.program = Path(named[1])
            self.program.write_text(block.text)
        elif self.program is not None:
            self.program.write_text(self.program.read_text() + block.text)
        report = Report()
        parse_program(block.text, report, f"{self.page}:{block.line}")
        report.check()

    def run_ndlog(self, block: Block) -> None:
        shown, cut, _ = block.text.strip().partition("\n… ")
        files = [file.read_text().strip() for file in Path("examples/net").iterdir()]
        assert any(text.startswith(shown) if cut else text == shown for text in files), block.text

    def run_sql(self, block: Block) -> None:
        import duckdb

        for statement in block.text.split(";"):
            if statement.strip():
                print(duckdb.sql(statement))


def _timeless(text: str) -> str:
    return re.sub(r"\d+\.\d+", "#", text).strip()


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for page in sys.argv[1:]:
        Runner(Path(page)).run()
