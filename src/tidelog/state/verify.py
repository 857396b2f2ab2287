"""Is a state whole, and is it right? Checksums and counts; and with `full`, a Bootstrap that must agree.

The full check compares every tuple, its iteration and its count with those that Bootstrap computes from the stored
facts. Strata whose content depends on the order in which things are found, and what follows from them, may differ
without being wrong; they are named and passed over.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tidelog.analysis.checked import Checked
from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.state import State
from tidelog.plain import dataclass, field
from tidelog.plan.stateful import StatefulProgram
from tidelog.state import problems
from tidelog.state.columns import shapes
from tidelog.state.files import Files
from tidelog.state.load import Loader
from tidelog.state.manifest import FORMAT, Manifest, StoredFile
from tidelog.state.program_text import program_of
from tidelog.state.reader import read_consistently, tuples_at
from tidelog.state.resume import resume
from tidelog.store import NEVER, present

ORDERED = ("a choice-domain", "a .limitsize", "autoinc()", "the number of the iteration")
"""Reasons for a stratum to be evaluated as a whole that make its content depend on order."""
_PIECE = 1 << 22


@dataclass
class StateVerdict:
    """What was looked at, and what is wrong with it."""

    epoch: int
    files: int = 0
    bytes: int = 0
    tuples: int = 0
    bootstrapped: bool = False
    passed_over: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def verify(
    place: str | os.PathLike[str],
    full: bool = False,
    functors: Mapping[str, Callable[..., Any]] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> StateVerdict:
    """Check a state directory as it is now; needs no lock."""

    def look(files: Files, manifest: Manifest) -> StateVerdict:
        verdict = StateVerdict(manifest.epoch)
        for file in manifest.files():
            tell(f"reading {file.name}")
            verdict.problems += _problems_of(files, file, verdict)
        if not verdict.problems:
            verdict.problems += _wrong_counts(files, manifest, verdict)
        if full and not verdict.problems:
            if manifest.format < FORMAT:
                raise problems.older_format(files.where, manifest.format, FORMAT)
            tell("evaluating the program from its facts")
            checked = program_of(manifest.program)
            verdict.problems += _disagreements(files, manifest, checked, functors or {}, verdict)
        return verdict

    return read_consistently(Files.at(place), look)


def _problems_of(files: Files, stored: StoredFile, verdict: StateVerdict) -> Iterator[str]:
    digest, size = hashlib.sha256(), 0
    with files.open(stored.name) as source:
        while piece := source.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    verdict.files += 1
    verdict.bytes += size
    if size != stored.bytes:
        yield f"{stored.name} has {size:,} bytes instead of {stored.bytes:,}"
    elif digest.hexdigest() != stored.sha256:
        yield f"{stored.name} is not what was written: its checksum differs"


def _wrong_counts(files: Files, manifest: Manifest, verdict: StateVerdict) -> Iterator[str]:
    for name, stored in manifest.relations.items():
        table = tuples_at(files, stored, manifest.epoch)
        verdict.tuples += table.num_rows
        if table.num_rows != stored.tuples:
            yield f"relation {name} has {table.num_rows:,} tuples instead of {stored.tuples:,}"
        if pc.min(table.column("_count")).as_py() == 0:
            yield f"relation {name} has a tuple without a derivation"


def _disagreements(
    files: Files,
    manifest: Manifest,
    checked: Checked,
    functors: Mapping[str, Callable[..., Any]],
    verdict: StateVerdict,
) -> Iterator[str]:
    """The relations of which Bootstrap has other tuples, iterations or counts."""
    stored, fresh = (State(checked, functors) for _ in range(2))
    loader = Loader(files, checked.types, stored.database)
    resume(stored, manifest, shapes(stored), loader)
    fresh.database.share_dictionaries(stored.database)
    with Limits().epoch():
        Bootstrap(fresh).run({name: stored.facts(name) for name in sorted(stored.inputs)})
        fresh.commit()
    verdict.bootstrapped = True
    uncertain = depending_on_order(stored.program)
    verdict.passed_over = sorted(name for name in uncertain if name in checked.relations)
    for name in checked.relations:
        if name in uncertain:
            continue
        whole = any(s.whole for s in stored.program.strata if name in s.relations)
        if _differ(stored, fresh, name, states=not whole):
            yield f"relation {name} is not what the program derives from the stored facts"


def depending_on_order(program: StatefulProgram) -> set[str]:
    """Relations whose content may differ between two evaluations of the same facts."""
    found: set[str] = set()
    for stratum in program.strata:
        if stratum.whole in ORDERED or not found.isdisjoint(stratum.inputs):
            found.update(stratum.relations)
    return found


def _differ(stored: State, fresh: State, name: str, states: bool) -> bool:
    """Whether two states with the same dictionaries differ on a relation."""
    if stored.count(name) != fresh.count(name):
        return True
    ours, theirs = stored.database[name], fresh.database[name]
    there = stored.present(name)
    numbers = theirs.find(ours.rows()[there])
    if (numbers < 0).any() or (theirs.now(numbers) == NEVER).any():
        return True
    if not states:
        return False
    if name in stored.database.views and not _same_classes(stored, fresh, name):
        return True
    same_iterations = (ours.now(there) == theirs.now(numbers)).all()
    return not (same_iterations and (ours.derived(there) == theirs.derived(numbers)).all())


def _same_classes(stored: State, fresh: State, name: str) -> bool:
    """Whether an equivalence has the same classes in both, whatever their numbers."""
    found = []
    for state in (stored, fresh):
        elements, numbers = present(state.database.views[name].classes).T
        order = np.argsort(elements)
        first = np.unique(numbers[order], return_index=True)[1]
        which = np.unique(numbers[order], return_inverse=True)[1].reshape(-1)
        found.append((elements[order], first[which]))
    (ours, our_classes), (theirs, their_classes) = found
    return np.array_equal(ours, theirs) and np.array_equal(our_classes, their_classes)
