"""The manifest: which files are the state, at which epoch, of which program.

What is always true: the manifest is replaced in one step, so whoever reads it sees one epoch, whole; every file that
it names was safe before it was written, and is never written again. Cost: its size grows with the number of files,
which compaction bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tidelog.plain import asdict, dataclass, field, fields
from tidelog.state import problems
from tidelog.state.files import Files
from tidelog.version import VERSION

FORMAT = 2
"""In format 1, every tuple behind a `_` was a derivation, floats were told apart by their bits, and all pairs of an
equivalence were stored. Such a state is brought up to date when it is opened: its facts stay, the rest is evaluated."""
NAME = "manifest.json"
SNAPSHOTS, CHANGES, LOG = "snapshots", "changes", "log"
FOLDERS = (SNAPSHOTS, CHANGES, LOG)


@dataclass(frozen=True)
class StoredFile:
    """A file: its name, the epochs whose effects it has (a snapshot: all up to `last`), and how to tell it is whole."""

    name: str
    first: int
    last: int
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class StoredRelation:
    """A relation: a snapshot and the changes since.

    `kind` is "relation" for one of the program, "auxiliary" for one that evaluation made for itself, "given" for the
    facts of a relation that is evaluated as a whole. `fingerprint` changes with anything that its tuples depend on but
    for facts.
    """

    kind: str
    columns: tuple[tuple[str, str], ...]  # (attribute, its type)
    tuples: int
    snapshot: StoredFile
    changes: tuple[StoredFile, ...] = ()
    fingerprint: str = ""

    @property
    def files(self) -> tuple[StoredFile, ...]:
        return (self.snapshot, *self.changes)

    @property
    def changed_rows(self) -> int:
        return sum(file.rows for file in self.changes)


@dataclass(frozen=True)
class KeptEpoch:
    """What an epoch did, for people."""

    epoch: int
    time: str
    strategy: str
    seconds: float
    inserted: dict[str, int] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """See the module's docstring. `counters` and `efforts` are by the relations of a stratum, joined by a space."""

    epoch: int
    time: str
    writer: dict[str, Any]
    strategy: str
    program: str
    digest: str
    relations: dict[str, StoredRelation]
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)
    efforts: dict[str, int] = field(default_factory=dict)
    bootstrap_seconds: float = 0.0
    streams: dict[str, int] = field(default_factory=dict)
    """The last batch of each stream that is part of the state."""
    history: tuple[KeptEpoch, ...] = ()
    format: int = FORMAT
    tidelog: str = VERSION

    def files(self) -> Iterator[StoredFile]:
        for relation in self.relations.values():
            yield from relation.files

    def names(self) -> set[str]:
        return {file.name for file in self.files()}

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def read_manifest(files: Files) -> Manifest | None:
    """The manifest of a state, or None if there is none."""
    try:
        text = files.read(NAME)
    except FileNotFoundError:
        return None
    except NotADirectoryError as problem:
        raise problems.cannot("read", files.where, problem) from None
    except OSError as problem:
        raise problems.cannot("read", f"{files.where}/{NAME}", problem) from None
    return parse_manifest(text, files.where)


def parse_manifest(text: bytes, where: str) -> Manifest:
    try:
        data = json.loads(text)
        found = int(data["format"])
        version = str(data["tidelog"])
    except (ValueError, KeyError, TypeError):
        raise problems.damaged(where, NAME, "it is not the JSON of a manifest") from None
    if found > FORMAT:
        raise problems.newer_format(where, found, FORMAT, version)
    try:
        data["relations"] = {name: _relation(made) for name, made in data["relations"].items()}
        data["counters"] = {name: (int(a), int(b)) for name, (a, b) in data["counters"].items()}
        data["history"] = tuple(KeptEpoch(**summary) for summary in data["history"])
        return Manifest(**{key: data[key] for key in (f.name for f in fields(Manifest))})
    except (ValueError, KeyError, TypeError) as problem:
        raise problems.damaged(where, NAME, f"something is missing in it ({problem})") from None


def _relation(data: dict[str, Any]) -> StoredRelation:
    return StoredRelation(
        data["kind"],
        tuple((name, kind) for name, kind in data["columns"]),
        data["tuples"],
        StoredFile(**data["snapshot"]),
        tuple(StoredFile(**change) for change in data["changes"]),
        data["fingerprint"],
    )
