"""What a run starts from: a localised program, the algorithm it needs, facts, bursts of updates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidelog.errors import error
from tidelog.lang import tree
from tidelog.net.checks import atoms_of, recursive_relations
from tidelog.net.program import NetProgram, load, parse_facts, parse_updates
from tidelog.net.values import Fact, Update

ALGORITHMS = ("auto", "psn", "annotated", "cut")


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = "there is no such file" if isinstance(problem, FileNotFoundError) else str(problem)
        raise error("TL0115", f"cannot read {path}: {reason}") from None


def load_facts(path: Path, program: NetProgram) -> list[Fact]:
    return parse_facts(read_text(path), program, str(path))


def load_bursts(path: Path, program: NetProgram) -> list[list[Update]]:
    """The bursts of an updates file: blank lines separate them."""
    return [parse_updates(text, program, str(path)) for text in split_bursts(read_text(path))]


def split_bursts(text: str) -> Iterator[str]:
    """The text of each burst behind as many empty lines as stood before it, so that errors show the right line."""
    lines = text.splitlines()
    start = 0
    for end in range(len(lines) + 1):
        if end == len(lines) or not lines[end].strip():
            chunk = lines[start:end]
            if any(line.strip() and not line.strip().startswith(("//", "#")) for line in chunk):
                yield "\n" * start + "\n".join(chunk) + "\n"
            start = end + 1


def needs_annotations(text: str, name: str = "<text>") -> bool:
    """Whether some relation depends on itself through rules that compute nothing.

    Then a cycle of links gives a fact infinitely many derivations, and only the annotated algorithm settles (section 5
    of paper 000). Where every cycle of rules computes something (a path, a cost), facts differ from round to round, and
    what bounds them is the program's own condition.
    """
    program = load(text, name).tree
    plain = tuple(i for i in program.items if not (isinstance(i, tree.Rule) and _computes(i)))
    return bool(recursive_relations(tree.Program(plain, program.dialect)))


def _computes(rule: tree.Rule) -> bool:
    """Whether a value of the head is computed: it is no variable of an atom and no constant."""
    bound = {a.name for atom, _ in atoms_of(rule) for a in atom.args if isinstance(a, tree.Variable)}
    nodes: list[Any] = [n for arg in rule.heads[0].args for n in arg.walk()]
    return any(
        isinstance(n, tree.Functor | tree.HeadAggregate) or (isinstance(n, tree.Variable) and n.name not in bound)
        for n in nodes
    )


def choose(algorithm: str, text: str, name: str = "<text>") -> str:
    """The algorithm of a run: as asked, or as the program needs. A cycle is cut unless the paper's way is asked for."""
    if algorithm not in ALGORITHMS:
        raise error("TL1044", f"there is no algorithm `{algorithm}`", help=f"there are {', '.join(ALGORITHMS)}")
    if algorithm == "auto":
        return "cut" if needs_annotations(text, name) else "psn"
    return algorithm
