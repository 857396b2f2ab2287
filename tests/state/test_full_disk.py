"""A real small disk that fills up, and a real one that may only be read."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from state.running import REACH
from tidelog.errors import TidelogError
from tidelog.session import Session
from tidelog.state.verify import verify


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        unmount(folder)


def unmount(folder: Path, seconds: float = 20.0) -> None:
    """Let go of a disk. Threads of Arrow may close the last file a moment after its reader is gone."""
    until = time.monotonic() + seconds
    while subprocess.run(["umount", folder], capture_output=True, check=False).returncode:
        assert time.monotonic() < until, "somebody still has a file of the disk"
        time.sleep(0.05)


def fill(disk: Path) -> Path:
    """A file that takes all the room that is left."""
    ballast = disk / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk has no end")


def test_a_full_disk_leaves_the_last_epoch_and_the_session_goes_on_when_there_is_room(small_disk: Path) -> None:
    place = small_disk / "state"
    with Session(REACH, state=place) as session:
        session.bootstrap({"edge": [(1, 2), (2, 3)]})
        before = set(session["path"])
        ballast = fill(small_disk)
        with pytest.raises(TidelogError, match="no space left on device") as raised:
            session.update(insert={"edge": [(3, 4)]})
        assert raised.value.codes == ("TL1301",)
        assert "make room on that disk" in str(raised.value)
        assert (session.epoch, set(session["path"])) == (1, before)
        with pytest.raises(TidelogError, match="TL1301"):
            session.bootstrap({"edge": [(7, 8)]})
        assert (session.epoch, set(session["path"])) == (1, before)
        ballast.unlink()
        assert session.update(insert={"edge": [(3, 4)]}).number == 2
    assert not verify(place, full=True).problems


def test_a_disk_that_may_only_be_read_can_be_read(small_disk: Path) -> None:
    place = small_disk / "state"
    with Session(REACH, state=place) as session:
        session.bootstrap({"edge": [(1, 2), (2, 3)]})
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(TidelogError, match="read-only file system"):
        Session(REACH, state=place)
    with Session(REACH, state=place, read_only=True) as session:
        assert session["path"].count() == 3
    assert not verify(place).problems


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(TidelogError, match="permission denied"):
        Session(REACH, state=tmp_path / "locked")
