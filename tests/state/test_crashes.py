"""A crash at any instant loses nothing that was acknowledged and shows nothing that was not.

`TIDELOG_SOAK=1 pytest tests/state/test_crashes.py` (`make soak`) dies at every operation and is killed 200 times; an
ordinary run takes a share of both.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from state.crashing import (
    DIED,
    PROGRAM,
    Faults,
    change,
    check_state,
    die,
    facts_after,
    forked,
    started,
    with_faults,
    write_epochs,
)
from tidelog.errors import TidelogError
from tidelog.session import Session
from tidelog.state import compaction

SOAK = bool(os.environ.get("TIDELOG_SOAK"))
EPOCHS = 6
KILLS = 200 if SOAK else 4
PATIENCE = 120


def operations(folder: Path) -> int:
    """How many operations on files the story takes, about: compaction works beside it."""
    counted = folder.with_name("counted")

    def count() -> None:
        faults = Faults(0, die)
        with_faults(faults)
        write_epochs(folder, EPOCHS, lambda epoch: None)
        counted.write_text(str(faults.count))

    assert forked(count) == 0
    return int(counted.read_text())


def acknowledged_in(note: Path) -> int:
    return int(note.read_text() or 0) if note.exists() else 0


def test_dying_at_any_file_operation_leaves_a_whole_epoch(tmp_path: Path) -> None:
    total = operations(tmp_path / "counting")
    chosen = range(1, total + 1) if SOAK else sorted(random.sample(range(1, total + 1), 8))
    for at in chosen:
        folder, note = tmp_path / f"at{at}", tmp_path / f"note{at}"

        def run(at: int = at, folder: Path = folder, note: Path = note) -> None:
            with_faults(Faults(at, die))
            write_epochs(folder, EPOCHS, lambda epoch: note_epoch(note, epoch))

        assert forked(run) in (0, DIED)
        assert forked(lambda folder=folder, note=note: check_state(folder, acknowledged_in(note)) and None) == 0, at
        assert forked(lambda folder=folder: write_epochs(folder, EPOCHS + 1, lambda epoch: None)) == 0, at


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_failing_file_operation_leaves_the_session_at_the_last_epoch(number: int, tmp_path: Path) -> None:
    total = operations(tmp_path / "counting")
    chosen = range(1, total + 1) if SOAK else sorted(random.sample(range(1, total + 1), 4))
    for at in chosen:
        assert forked(lambda at=at: survive(tmp_path / f"at{at}", at, number)) == 0, at


def survive(folder: Path, at: int, number: int) -> None:
    """Go on after an error, once the disk works again; the error says what to do."""

    def fail(operation: str) -> None:
        raise OSError(number, os.strerror(number))

    compaction.MOST, compaction.WORTHWHILE = 2, 30
    faults = Faults(at, fail)
    with_faults(faults)
    session = trying(lambda: Session(PROGRAM, state=folder))
    trying(lambda: session.bootstrap({"edge": sorted(facts_after(1))}) if session.epoch == 0 else None)
    for epoch in range(2, EPOCHS + 1):
        trying(lambda epoch=epoch: change(session, epoch))
        assert session.epoch == epoch
        assert set(session["edge"]) == facts_after(epoch)
    trying(session.close)
    faults.at = 0  # how many operations there are depends on what the background has come to; the check has its own
    check_state(folder, EPOCHS)


def trying(action: Callable[[], Any]) -> Any:
    """Once more, if the first time is refused as it should be."""
    try:
        return action()
    except TidelogError as problem:
        refused = problem
    assert refused.codes == ("TL1301",), refused
    assert refused.diagnostics[0].help
    return action()


def test_a_killed_process_leaves_the_last_acknowledged_epoch_or_the_next(tmp_path: Path) -> None:
    folder, note = tmp_path / "state", tmp_path / "note"
    epoch = 0
    for number in range(KILLS):
        note_epoch(note, epoch)
        child = started(lambda: write_epochs(folder, 10**9, lambda ended: note_epoch(note, ended)))
        deadline = time.monotonic() + PATIENCE
        while acknowledged_in(note) <= epoch and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen = acknowledged_in(note)
        assert seen > epoch, f"the writer did nothing in {PATIENCE} seconds, after {number} kills"
        assert forked(lambda seen=seen: note_epoch(note, check_state(folder, seen))) == 0, f"after {number} kills"
        epoch = acknowledged_in(note)
        if SOAK:
            print(f"killed {number + 1} times, at epoch {epoch}", flush=True)


def note_epoch(note: Path, epoch: int) -> None:
    """In one step, so that a kill in the middle of it leaves a number."""
    beside = note.with_suffix(".new")
    beside.write_text(str(epoch))
    beside.replace(note)
