"""`tidelog query`: ask a state directory, or a program and its facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.cli.front import (
    FactDir,
    FunctorFile,
    IncludeDirs,
    Macros,
    MaxMemory,
    NoWarnings,
    SkipBadRows,
    StateOrProgram,
    Timeout,
)
from tidelog.errors import Source
from tidelog.evaluate.limits import DEFAULT, Limits

if TYPE_CHECKING:
    import pyarrow as pa

    from tidelog.analysis.types import RelationInfo


def query(
    state: StateOrProgram,
    text: Annotated[str, typer.Argument(help="A body of literals, such as 'path(1, X), X > 2'.", show_default=False)],
    fact_dir: FactDir = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    functors: FunctorFile = None,
    no_warn: NoWarnings = False,
    max_memory: MaxMemory = DEFAULT,
    timeout: Timeout = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """The answers to a query, as the shell gives them: over a state directory, which needs no lock, or over a program
    and its facts, of which only what is asked for is read and derived."""
    from tidelog.cli.command_values import shown_answers
    from tidelog.cli.without_pandas import settle_without_pandas
    from tidelog.evaluate.user_functors import load_module
    from tidelog.state.query import query_state

    settle_without_pandas()
    source = Source("<query>", text)
    answers: tuple[RelationInfo, pa.Table]
    if Path(state).is_file():
        from tidelog.cli.loading import checked_file
        from tidelog.local.on_demand import answer_on_demand
        from tidelog.local.settings import Settings

        checked = checked_file(Path(state), include_dir, macro, no_warn)
        limits = Limits(None, max_memory, timeout)
        settings = Settings("batch", functors=functors, facts=fact_dir, skip_bad_rows=skip_bad_rows, limits=limits)
        answers = answer_on_demand(source, checked, settings)
    else:
        answers = query_state(state, source, load_module(functors) if functors else {})
    for line in shown_answers(*answers):
        print(line)
