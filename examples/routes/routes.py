"""Travel times and routes from ten depots, kept up to date while roads close and open again.

    python examples/routes/routes.py [FOLDER]             in this process
    python examples/routes/routes.py [FOLDER] --spark     closures and reopenings as a stream on Spark

Every bridge but one closes, one after the other; then they open again. After each epoch it says how many travel times
changed and how long that took. FOLDER (default: where you are) receives two pictures, `before.svg` and `after.svg`:
which depot is the nearest to each crossing, and one route.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from picture import draw
from town import Road, Town, depots, made_town

from tidelog import Session

HERE = Path(__file__).parent


def closures(town: Town) -> Iterator[tuple[str, list[Road]]]:
    """What happens, in order: (insert or delete, roads)."""
    pairs = [town.bridges[at : at + 2] for at in range(0, len(town.bridges), 2)][1:]
    for pair in pairs:
        yield "delete", pair
    yield "closed", []
    for pair in pairs:
        yield "insert", pair


def rows(relation: Any) -> list[tuple[int, ...]]:
    return [tuple(row) for row in (relation.collect() if hasattr(relation, "collect") else relation)]


def nearest(session: Session) -> dict[int, int]:
    """The depot that is nearest to each crossing."""
    best = sorted((minutes, depot, node) for depot, node, minutes in rows(session["time"]))
    found: dict[int, int] = {}
    for _, depot, node in best:
        found.setdefault(node, depot)
    return found


def route(session: Session, depot: int, node: int) -> list[int]:
    """The crossings of a shortest way, from its end to its beginning."""
    before = {(d, y): x for d, y, x in rows(session["via"])}
    way = [node]
    while way[-1] != depot and (depot, way[-1]) in before:
        way.append(before[depot, way[-1]])
    return way


def tell(what: str, epoch: Any) -> None:
    change = len(epoch.inserted["time"]) + len(epoch.deleted["time"])
    print(f"{what:9} {change:6} travel times changed  ({epoch.strategy}, {1000 * epoch.seconds:.1f} ms)")


def follow_in_process(session: Session, town: Town, picture: Any) -> None:
    for what, changed in closures(town):
        if what == "closed":
            picture("after.svg")
        elif what == "delete":
            tell("closed:", session.update(delete={"road": changed}))
        else:
            tell("reopened:", session.update(insert={"road": changed}))


def follow_on_spark(session: Session, town: Town, picture: Any, spark: Any, folder: Path) -> None:
    """The same from a stream: a folder of change feeds, a file for each closure and each reopening."""
    incoming, happening = folder / "changes", list(closures(town))
    schema = "`from` long, `to` long, minutes long, _change_type string"
    names = ["closed:" if what == "delete" else "reopened:" for what, changed in happening if changed]
    for what, changed in happening:
        if changed:
            made = spark.createDataFrame([(*road, what) for road in changed], schema)
            made.coalesce(1).write.mode("append").parquet(str(incoming))

    def on_epoch(epoch: Any) -> None:
        done = names.pop(0)
        print(f"{done:9} batch of the stream  ({epoch.strategy}, {1000 * epoch.seconds:.1f} ms)", flush=True)
        if done == "closed:" and "closed:" not in names:
            picture("after.svg")

    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(incoming))
    query = session.apply_stream(stream, "road", trigger={"availableNow": True}, on_epoch=on_epoch)
    query.awaitTermination()


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    folder = Path(names[0] if names else ".")
    folder.mkdir(parents=True, exist_ok=True)
    town = made_town()
    begin = depots(town)
    spark = None
    if "--spark" in sys.argv:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its tasks run Tidelog, too
        spark = SparkSession.builder.master("local[2]").appName("routes").getOrCreate()
    with Session(HERE / "routes.dl", spark=spark) as session:
        session.bootstrap({"road": town.roads, "depot": [(depot,) for depot in begin]})
        print(f"{len(town.roads)} roads, {len(begin)} depots, {session.count('time')} travel times")

        def picture(name: str) -> None:
            way = route(session, begin[0], town.side * town.side - 1)
            roads = [(x, y, minutes) for x, y, minutes in rows(session["road"])]
            draw(town, roads, nearest(session), way, folder / name)
            print(f"{name}: from {begin[0]} to {way[0]} over {len(way)} crossings")

        picture("before.svg")
        if spark is None:
            follow_in_process(session, town, picture)
        else:
            follow_on_spark(session, town, picture, spark, folder)
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
