"""What `make demo` runs: a real graph on Spark, kept up to date by a stream of changes, in a state that outlives it.

The graph is the import graph of this Python's standard library; the program finds what depends on what. Five changes
arrive as files, as a change feed would write them, and each becomes an epoch. Then everything is stopped, and the
state is opened again.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from imports.graph import import_graph

import tidelog
from tidelog.local import Epoch
from tidelog.spark.start import started

PROGRAM = Path(__file__).parent / "imports" / "imports.dl"
CHANGES = [
    ("json no longer imports re", [("delete", "json.decoder", "re"), ("delete", "json.scanner", "re"),
                                   ("delete", "json.encoder", "re")]),
    ("and takes them back", [("insert", "json.decoder", "re"), ("insert", "json.scanner", "re"),
                             ("insert", "json.encoder", "re")]),
    ("a new module imports asyncio", [("insert", "tidelog_demo", "asyncio")]),
    ("and is imported by a test tool", [("insert", "unittest.case", "tidelog_demo")]),
    ("the new module is removed", [("delete", "tidelog_demo", "asyncio"), ("delete", "unittest.case", "tidelog_demo")]),
]  # fmt: skip


def main() -> None:
    began = time.perf_counter()
    edges = import_graph()
    modules = {name for edge in edges for name in edge}
    print(f"the import graph of Python {sys.version.split()[0]}: {len(modules):,} modules, {len(edges):,} imports")
    with tempfile.TemporaryDirectory() as folder, started("local[2]", print) as spark:
        state, feed, checkpoint = Path(folder, "state"), Path(folder, "feed"), Path(folder, "checkpoint")
        feed.mkdir()
        with tidelog.Session(PROGRAM, spark=spark, state=state) as session:
            print(session.bootstrap({"imports": spark.createDataFrame(edges, "module string, imported string")}))
            print("who would notice if `socket` broke:", session.query('depends(M, "socket")').count(), "modules")
            write(feed)
            stream = spark.readStream.schema("_change_type string, module string, imported string")
            query = session.apply_stream(
                stream.option("maxFilesPerTrigger", 1).option("latestFirst", "false").json(str(feed)), "imports",
                name="demo", checkpoint=checkpoint, trigger={"availableNow": True}, on_epoch=show,
            )  # fmt: skip
            query.awaitTermination()
            before = {name: session[name].count() for name in session.relations}
        print("stopped; the state is", ", ".join(sorted(path.name for path in state.iterdir())))
        with tidelog.Session(PROGRAM, state=state) as session:
            after = {name: session[name].count() for name in session.relations}
            print(f"reopened without Spark, in epoch {session.epoch}: {after}")
            if after != before:
                sys.exit(f"something was lost: {before}")
            print("nothing was lost")
    print(f"{time.perf_counter() - began:.0f} s in all")


def write(feed: Path) -> None:
    """The changes, a file each, in order of time."""
    for number, (_, rows) in enumerate(CHANGES):
        lines = (json.dumps(dict(zip(("_change_type", "module", "imported"), row, strict=True))) for row in rows)
        (feed / f"{number}.json").write_text("\n".join(lines) + "\n")
        time.sleep(0.02)  # files are taken in the order of their times


def show(epoch: Epoch) -> None:
    """An epoch, and a few of the tuples that came and went."""
    what, _ = CHANGES[epoch.number - 2]
    print(f"\n{what}\n{epoch}")
    for row in epoch.changes["depends"].limit(3).collect():
        print(f"  {row['_change_type']}: {row['module']} depends on {row['on']}")


if __name__ == "__main__":
    main()
