"""Folders of facts: which files count, and what format they are in.

A folder is what Spark and others write a table to: part files, beside which there may be files that are no data, whose
names begin with `_` or `.`. The format of a folder is that of its part files, whatever it is called. What is always
true: a folder whose files do not tell what its table has in it (Delta, Iceberg and Hudi keep a log beside them, which
says which of the files count) is never taken for the sum of its files.
"""

from __future__ import annotations

from pathlib import Path

from tidelog.errors import error
from tidelog.formats import FORMATS, TEXT, Format, format_of_name


def format_of_folder(folder: Path) -> str:
    """The format of a folder's part files. One without any has no facts if a job has ended with that (`_SUCCESS`)."""
    for format in FORMATS.values():
        if format.log and _has_log(folder, format):
            return format.name
    found: dict[str, Path] = {}
    for file in part_files(folder):
        found.setdefault(_format_of_part(file), file)
    if len(found) > 1:
        several = " and ".join(f"{name} ({file.name})" for name, file in found.items())
        raise error("TL1261", f"the folder `{folder}` has files of several formats: {several}",
                    help="a folder of facts has part files of one format; name a file in it")  # fmt: skip
    if not found and not (folder / "_SUCCESS").exists():
        raise error("TL1261", f"the folder `{folder}` has no facts in it: there are no files",
                    help="a folder of facts has part files, as Spark writes them")  # fmt: skip
    return next(iter(found), TEXT)


def _has_log(folder: Path, format: Format) -> bool:
    """Whether there is a log; if its folder cannot be one of data, that is enough."""
    place = folder / Path(format.log).parts[0]
    return place.is_dir() and (is_hidden(place, folder) or any(folder.glob(format.log)))


def _format_of_part(file: Path) -> str:
    name = format_of_name(file)
    if name != TEXT:
        return name
    with open(file, "rb") as stream:
        begin = stream.read(8)
    return next((f.name for f in FORMATS.values() if f.magic and begin.startswith(f.magic)), TEXT)


def part_files(folder: Path) -> list[Path]:
    """The files of a folder and its folders that have data in them, in the order of their names."""
    return sorted(f for f in folder.rglob("*") if f.is_file() and not is_hidden(f, folder))


def is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is none of its part files."""
    return any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
