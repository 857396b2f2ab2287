"""`tidelog query`: ask a state directory."""

from __future__ import annotations

from typing import Annotated

import typer

from tidelog.cli.front import FunctorFile, StateDir
from tidelog.errors import Source


def query(
    state: StateDir,
    text: Annotated[str, typer.Argument(help="A body of literals, such as 'path(1, X), X > 2'.", show_default=False)],
    functors: FunctorFile = None,
) -> None:
    """The answers to a query, as the shell gives them. Needs no lock: others may be writing."""
    from tidelog.cli.command_values import shown_answers
    from tidelog.cli.without_pandas import settle_without_pandas
    from tidelog.evaluate.user_functors import load_module
    from tidelog.state.query import query_state

    settle_without_pandas()
    for line in shown_answers(*query_state(state, Source("<query>", text), load_module(functors) if functors else {})):
        print(line)
