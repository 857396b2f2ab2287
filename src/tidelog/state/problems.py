"""What can go wrong with a state directory, in words for its user: TL13xx."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from tidelog.errors import TidelogError, error

_ADVICE = {
    errno.ENOSPC: "make room on that disk and try again; the state is as it was after the last epoch",
    errno.EDQUOT: "make room in your quota and try again; the state is as it was after the last epoch",
    errno.EACCES: "see to it that this user may write there and try again; the state is as it was",
    errno.EPERM: "see to it that this user may write there and try again; the state is as it was",
    errno.EROFS: "the file system is read-only; copy the state to one that is not, or make it writable",
}


@contextmanager
def explained(doing: str, where: str, missing: bool = False) -> Iterator[None]:
    """An error of the file system in here becomes one that says what to do. `missing`: a file that is not there is the
    business of the caller, who knows whether it should be."""
    try:
        yield
    except OSError as problem:
        if missing and isinstance(problem, FileNotFoundError):
            raise
        raise cannot(doing, where, problem) from problem


def cannot(doing: str, where: str, problem: OSError) -> TidelogError:
    reason = (problem.strerror or str(problem)).lower()
    advice = _ADVICE.get(problem.errno or 0, "the state is as it was after the last epoch")
    return error("TL1301", f"cannot {doing} {where}: {reason}", help=advice)


def no_state(where: str) -> TidelogError:
    return error(
        "TL1302", f"there is no state in {where}",
        help="`Session(program, state=…)` and its first bootstrap() make one, or `tidelog bootstrap program.dl DIR`",
    )  # fmt: skip


def newer_format(where: str, found: int, known: int, version: str) -> TidelogError:
    return error(
        "TL1303", f"the state in {where} has format {found}, which this Tidelog does not know: it reads format {known}",
        help=f"it was written by Tidelog {version}; use that one or a newer one",
    )  # fmt: skip


def older_format(where: str, found: int, known: int) -> TidelogError:
    return error(
        "TL1303", f"the state in {where} has format {found}, and its counts are not those of format {known}",
        help="open it once for writing (`tidelog update`), which brings it up to date, and then verify it in full",
    )  # fmt: skip


def damaged(where: str, name: str, why: str) -> TidelogError:
    return error(
        "TL1304", f"{name} of the state in {where} is damaged: {why}",
        help="restore this file from a copy, or begin anew: move the folder away and bootstrap from the original facts",
    )  # fmt: skip


def vanished(where: str, problem: FileNotFoundError) -> TidelogError:
    return damaged(where, str(problem.filename or problem), "it is not there")


def other_program(where: str, difference: str) -> TidelogError:
    return error(
        "TL1305", f"the state in {where} was made by a program that differs from this one:\n{difference}",
        help="open it with migrate=True (`tidelog update … --migrate program.dl`) to keep what the change leaves alone",
    )  # fmt: skip


def locked(where: str, owner: str) -> TidelogError:
    return error(
        "TL1306", f"the state in {where} is being written by {owner}",
        help="wait until it is closed; readers need no lock. If that process is gone, `tidelog state DIR --unlock`",
    )  # fmt: skip


def epoch_gone(where: str, name: str, epoch: int, first: int, last: int) -> TidelogError:
    available = f"epoch {last}" if first == last else f"epochs {first} to {last}"
    return error(
        "TL1307", f"epoch {epoch} of {name} in {where} is not there", help=f"available: {available}",
    )  # fmt: skip


def unknown_relation(where: str, name: str, known: list[str]) -> TidelogError:
    return error(
        "TL1308", f"the state in {where} has no relation `{name}`", help=f"it has {', '.join(known) or 'none'}"
    )


def strategy_without_state(strategy: str, able: tuple[str, ...]) -> TidelogError:
    return error(
        "TL1309", f"the strategy `{strategy}` keeps nothing that could be stored",
        help=f"a session with a state directory needs one of {', '.join(able)}",
    )  # fmt: skip


def unstable_numbers() -> TidelogError:
    return error(
        "TL1310", "the program uses `ord` of a symbol or record, whose numbers are another process's after a restart",
        help="a program with durable state must not depend on them",
    )  # fmt: skip


def not_writing(where: str) -> TidelogError:
    return error(
        "TL1311", f"the state in {where} is not open for writing",
        help="open it without read_only=True; if an error left it unclear whether an epoch ended, open it again",
    )  # fmt: skip


def needs_migration_base(where: str) -> TidelogError:
    return error(
        "TL1312", f"there is no state in {where} that could be migrated", help="leave out migrate, and bootstrap()"
    )


def restless(where: str) -> TidelogError:
    return error("TL1314", f"the state in {where} was compacted again and again while it was read", help="try again")
