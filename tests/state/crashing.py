"""Processes that write epochs and die, and what must be true of what they leave.

A *story* is a sequence of epochs over a chain with shortcuts; what its facts are after each is known without any
engine. Processes are forked, so that each begins with everything imported and none knows what another left in memory.
"""

from __future__ import annotations

import faulthandler
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from state.running import REACH
from strategies.engine import checked_program
from tidelog.session import Session
from tidelog.state import compaction, files
from tidelog.state.verify import verify
from tidelog.store import native

PROGRAM = checked_program(REACH)
native.load()  # children are forked with the kernels and the grammars in place
LENGTH = 12
Pairs = set[tuple[int, int]]
DIED = 9


def facts_after(epoch: int) -> Pairs:
    """The edges at the end of an epoch; epoch 1 is the bootstrap."""
    chain = {(i, i + 1) for i in range(LENGTH)}
    for k in range(2, epoch + 1):
        chain ^= {(k * 7 % LENGTH, k * 5 % LENGTH), (k % LENGTH, k % LENGTH + 1)}
    return chain


def change(session: Session, epoch: int) -> None:
    before, after = facts_after(epoch - 1), facts_after(epoch)
    session.update(insert={"edge": sorted(after - before)}, delete={"edge": sorted(before - after)})


def write_epochs(folder: Path, until: int, acknowledge: Callable[[int], None]) -> None:
    """Epochs from wherever the directory is, each acknowledged when it has ended; small compactions all the time."""
    compaction.MOST, compaction.WORTHWHILE = 2, 30
    with Session(PROGRAM, state=folder) as session:
        if session.epoch == 0:
            session.bootstrap({"edge": sorted(facts_after(1))})
            acknowledge(1)
        for epoch in range(session.epoch + 1, until + 1):
            change(session, epoch)
            acknowledge(epoch)


def check_state(folder: Path, acknowledged: int) -> int:
    """The state is that of the last acknowledged epoch or of the one in flight, whole; which one."""
    if not (folder / "manifest.json").exists():
        assert acknowledged == 0
        return 0
    verdict = verify(folder)
    assert not verdict.problems, verdict.problems
    assert verdict.epoch in (acknowledged, acknowledged + 1)
    with Session(PROGRAM, state=folder) as session:
        epoch = session.epoch
        assert epoch in (acknowledged, acknowledged + 1), (epoch, acknowledged)
        assert set(session["edge"]) == facts_after(epoch)
        with Session(PROGRAM) as fresh:
            fresh.bootstrap({"edge": sorted(facts_after(epoch))})
            for name in session.relations:
                assert set(session[name]) == set(fresh[name]), name
    verdict = verify(folder, full=True)
    assert not verdict.problems, verdict.problems
    return epoch


def started(action: Callable[[], None]) -> int:
    """A process that does something; it exits with 0, or with 1 after an error."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            faulthandler.dump_traceback_later(60)  # where it is, if it hangs
            action()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def forked(action: Callable[[], None]) -> int:
    """The exit code of a process that does something: 0, 1 after an error, or that with which it died."""
    return os.waitstatus_to_exitcode(os.waitpid(started(action), 0)[1])


class FaultyFiles(files.LocalFiles):
    """Files on a disk that fails at one operation: `fault(operation)` is called before and after each."""

    def __init__(self, root: Path, fault: Callable[[str], None]) -> None:
        super().__init__(root)
        self.fault = fault


def _faulty(name: str) -> Any:
    plain = getattr(files.LocalFiles, name)

    def operation(self: FaultyFiles, *args: Any) -> Any:
        self.fault(f"before {name} {args}")
        result = plain(self, *args)
        self.fault(f"after {name} {args}")
        return _FaultySink(result, self.fault) if name == "create" else result

    return operation


for _name in ("make_folder", "create", "sync", "sync_folder", "rename", "remove", "read"):
    setattr(FaultyFiles, _name, _faulty(_name))


class _FaultySink:
    """A file of which half of what is written may arrive."""

    def __init__(self, sink: Any, fault: Callable[[str], None]) -> None:
        self._sink, self._fault = sink, fault

    def write(self, data: Any) -> int:
        half = len(data) // 2
        self._sink.write(data[:half])
        self._sink.flush()
        self._fault("in the middle of a write")
        self._sink.write(data[half:])
        return len(data)

    def close(self) -> None:
        self._sink.close()


class Faults:
    """Counts the operations; at one of them, something happens."""

    def __init__(self, at: int, happen: Callable[[str], None]) -> None:
        self.at, self.happen, self.count = at, happen, 0

    def __call__(self, operation: str) -> None:
        self.count += 1
        if self.count == self.at:
            self.happen(operation)


def with_faults(faults: Faults) -> None:
    """From now on, in this process, state directories have a faulty disk."""
    files.Files.at = staticmethod(lambda place: FaultyFiles(Path(place), faults))  # type: ignore[method-assign]


def die(operation: str) -> None:
    os._exit(DIED)
