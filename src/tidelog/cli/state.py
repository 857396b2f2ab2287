"""`tidelog state`, `tidelog compact`, `tidelog verify`: what is in a state directory, and its upkeep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.cli.front import FunctorFile, StateDir

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidelog.state.manifest import KeptEpoch, Manifest

RECENT = 10


def state(
    state: StateDir,
    program: Annotated[bool, typer.Option("--program", help="Print the program, and nothing else.")] = False,
    unlock: Annotated[bool, typer.Option("--unlock", help="Remove the lock of a writer that is gone.")] = False,
) -> None:
    """What a state directory holds: its epochs, sizes, last changes, and who writes it."""
    from tidelog.state.files import Files
    from tidelog.state.lock import break_lock, read_owner
    from tidelog.state.reader import current_manifest

    files = Files.at(state)
    manifest = current_manifest(files)
    if program:
        print(manifest.program, end="")
        return
    if unlock:
        broken = break_lock(files)
        print(f"the lock of {broken} is removed" if broken else "there was no lock")
        return
    owner = read_owner(files)
    held = "free" if owner is None else f"{'left behind by' if owner.is_gone else 'held by'} {owner}"
    for line in _summary(manifest, held):
        print(line)


def _summary(manifest: Manifest, held: str) -> Iterator[str]:
    from tidelog.state.columns import EQUIVALENCE

    size, count = sum(file.bytes for file in manifest.files()), sum(1 for _ in manifest.files())
    writer = "{user} on {host}, process {pid}".format(**manifest.writer)
    yield f"epoch {manifest.epoch}, {manifest.time}, written by {writer}"
    yield f"format {manifest.format}, Tidelog {manifest.tidelog}, strategy {manifest.strategy}"
    yield f"program {manifest.digest[:12]} (shown with --program)"
    yield f"{count:,} files, {size:,} bytes; lock: {held}"
    for stream, batch in manifest.streams.items():
        yield f"stream {stream}: up to batch {batch}"
    yield ""
    yield f"{'relation':32} {'tuples':>14} {'bytes':>14}  epochs that can be read"
    for name, stored in manifest.relations.items():
        size = sum(file.bytes for file in stored.files)
        shown = f"{name} (eqrel, from)" if stored.kind == EQUIVALENCE else name
        yield f"{shown:32} {stored.tuples:14,} {size:14,}  {stored.snapshot.last} to {manifest.epoch}"
    yield ""
    for summary in manifest.history[-RECENT:]:
        yield _told(summary)


def _told(summary: KeptEpoch) -> str:
    sides = (("+", summary.inserted), ("-", summary.deleted))
    names = dict.fromkeys((*summary.inserted, *summary.deleted))
    impact = [name + "".join(f" {sign}{side[name]:,}" for sign, side in sides if name in side) for name in names]
    return (
        f"epoch {summary.epoch}, {summary.time}: {summary.strategy} in {1000 * summary.seconds:,.1f} ms; "
        f"{', '.join(impact) or 'nothing changed'}"
    )


def compact(state: StateDir, functors: FunctorFile = None) -> None:
    """Fold all changes into new snapshots. Sessions do this by themselves, a little at a time."""
    from tidelog.cli.without_pandas import settle_without_pandas
    from tidelog.epochs.engine import EngineOptions
    from tidelog.evaluate.user_functors import load_module
    from tidelog.state import open_state
    from tidelog.state.program_text import stored_program

    settle_without_pandas()
    options = EngineOptions(functors=load_module(functors) if functors else {})
    _, keeper = open_state(stored_program(state), options, state)
    try:
        folded = keeper.compact()
    finally:
        keeper.close()
    print(f"{folded} relations have a new snapshot" if folded else "there was nothing to compact")


def verify(
    state: StateDir,
    full: Annotated[bool, typer.Option("--full", help="Also evaluate the program from its facts: must agree.")] = False,
    functors: FunctorFile = None,
) -> None:
    """Check that a state directory is whole (checksums, counts) and, with --full, right."""
    from tidelog.cli.without_pandas import settle_without_pandas
    from tidelog.evaluate.user_functors import load_module
    from tidelog.state.verify import verify as verify_state

    settle_without_pandas()
    verdict = verify_state(state, full, load_module(functors) if functors else {})
    for problem in verdict.problems:
        print(problem, file=sys.stderr)
    if verdict.problems:
        raise typer.Exit(1)
    also = ", and the program derives the same from the stored facts" if verdict.bootstrapped else ""
    print(f"epoch {verdict.epoch} is whole: {verdict.files:,} files, {verdict.bytes:,} bytes, "
          f"{verdict.tuples:,} tuples{also}")  # fmt: skip
    if verdict.passed_over:
        print(f"not compared, because they depend on the order of evaluation: {', '.join(verdict.passed_over)}")
