"""From the files of a state to relations that go on where another process stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.state import State
from tidelog.state import problems
from tidelog.state.columns import Shape, rebuilt
from tidelog.state.load import Loader
from tidelog.state.manifest import Manifest

Number = TypeVar("Number")


def resume(state: State, manifest: Manifest, shapes: Mapping[str, Shape], loader: Loader) -> None:
    """Fill the state, which is new, with that of the manifest."""
    missing = [name for name in shapes if name not in manifest.relations]
    if missing:
        raise problems.damaged(loader.files.where, "manifest.json", f"it has nothing about {', '.join(missing)}")
    loader.load_all([(shape, manifest.relations[name], state.database[name]) for name, shape in shapes.items()])
    Bootstrap(state).evaluate(rebuilt(state))
    state.live = dict.fromkeys(state.program.arities, 0)
    state.live |= {name: stored.tuples for name, stored in manifest.relations.items() if name in state.live}
    state.live |= {name: state.database[name].count for stratum in rebuilt(state) for name in stratum.relations}
    state.counters = by_relations(state, manifest.counters)
    state.efforts = by_relations(state, manifest.efforts)
    state.begin_epoch()


def by_relations(state: State, numbers: Mapping[str, Number]) -> dict[tuple[str, ...], Number]:
    """Numbers of strata, by the relations of each stratum of the program."""
    keys = {" ".join(stratum.relations): stratum.relations for stratum in state.program.strata}
    return {keys[key]: number for key, number in numbers.items() if key in keys}
