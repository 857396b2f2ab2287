"""`tidelog net`: run a protocol on a network of nodes; check every interleaving of a small one."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tidelog.errors import error, render

if TYPE_CHECKING:
    from tidelog.net.program import NetProgram
    from tidelog.net.runtime.launch import Launched, Setting
    from tidelog.net.runtime.network import Convergence
    from tidelog.net.values import Fact, Update

app = typer.Typer(help="Network Datalog: run a protocol on many nodes, or check it.", no_args_is_help=True)

NdlogFile = Annotated[Path, typer.Argument(help="The program: .ndlog.", show_default=False)]
FactsFile = Annotated[Path | None, typer.Option("--facts", "-F", help="Base facts, as in `link(@a,b).`")]
UpdatesFile = Annotated[
    Path | None,
    typer.Option("--updates", "-U", help="Updates, as in `+link(@a,b), -link(@b,c)`; blank lines end a burst."),
]
NoWarnings = Annotated[bool, typer.Option("--no-warn", "-w", help="Show no warnings.")]


@app.command("run")
def run(
    program: NdlogFile,
    topology: Annotated[str | None, typer.Option("--topology", "-t", help="A file (edge list, .json, .graphml), or ring:N, grid:WxH, random:N:P, ba:N:M, fattree:K.")] = None,  # noqa: E501
    updates: UpdatesFile = None,
    facts: FactsFile = None,
    schedule: Annotated[str, typer.Option("--schedule", "-s", help="fifo, lifo, random, deletions-first, insertions-first, starve, delays.")] = "fifo",  # noqa: E501
    seed: Annotated[int, typer.Option("--seed", help="Decides random schedules and topologies.")] = 0,
    starve: Annotated[str | None, typer.Option("--starve", help="The node that --schedule starve keeps waiting.")] = None,  # noqa: E501
    delays: Annotated[Path | None, typer.Option("--delays", help="How long each link takes with --schedule delays: a topology file, its costs are the delays.")] = None,  # noqa: E501
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="psn, annotated, cut (annotated, without following cycles), or auto: what the program needs.")] = "auto",  # noqa: E501
    batch: Annotated[bool, typer.Option("--batch", help="A node takes everything that has arrived for it at once.")] = False,  # noqa: E501
    cancel: Annotated[bool, typer.Option("--cancel", help="Opposite updates that meet in an inbox vanish.")] = False,
    link: Annotated[str, typer.Option("--link", help="The relation that holds the links of the topology.")] = "link",
    limit: Annotated[int | None, typer.Option("--limit", help="Most updates that rules may make.", min=1)] = None,
    processes: Annotated[int, typer.Option("--processes", "-p", help="Spread the nodes over processes.", min=1)] = 1,
    show: Annotated[list[str] | None, typer.Option("--show", help="Print the facts of this relation at the end.")] = None,  # noqa: E501
    trace: Annotated[Path | None, typer.Option("--trace", help="Write what happens as JSON lines.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page that replays the run.")] = None,
    no_warn: NoWarnings = False,
) -> None:  # fmt: skip
    """Run a program on a network: converge, then converge again after each burst of updates."""
    from tidelog.net.runtime import inputs
    from tidelog.net.runtime.launch import Setting, launch
    from tidelog.net.runtime.topologies import topology as make_topology

    setting = Setting.load(
        program, schedule=schedule, seed=seed, starve=starve, delays=delays, algorithm=algorithm, batch=batch,
        cancel=cancel, limit=limit, processes=processes,
    )  # fmt: skip
    local = setting.program
    _warn(local, no_warn)
    _check_shown(local, show or ())
    network = make_topology(topology, seed) if topology else None
    given = [*local.facts, *(network.facts(local, link) if network else ())]
    given += inputs.load_facts(facts, local) if facts else []
    bursts = inputs.load_bursts(updates, local) if updates else []
    if not network and not facts and not given:
        raise error("TL1054", "there is no network to run on", help="give --topology, --facts, or facts in the program")
    with ExitStack() as stack:
        out = stack.enter_context(_create(trace)) if trace else None
        running = stack.enter_context(launch(setting, network, out, html is not None, _News()))
        _run_bursts(running, given, bursts)
        _summary(running, setting, show or ())
        if html:
            _write_page(running, html, program)


@app.command("check")
def check(
    program: NdlogFile,
    facts: FactsFile = None,
    updates: UpdatesFile = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="psn, annotated, or an exhibit: original, counting, base-facts; auto takes what the program needs.")] = "auto",  # noqa: E501
    picking: Annotated[str, typer.Option("--picking", help="The most updates of one iteration: a number, or all.")] = "1",  # noqa: E501
    no_reduction: Annotated[bool, typer.Option("--no-reduction", help="Explore every single interleaving.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="Most configurations to explore.", min=1)] = None,
    no_warn: NoWarnings = False,
) -> None:  # fmt: skip
    """Explore every interleaving: does each run reach the right state? Exit code 2 if some run does not."""
    from tidelog.net import check as explore
    from tidelog.net import load
    from tidelog.net.checker import DEFAULT_LIMIT
    from tidelog.net.runtime import inputs

    if picking != "all" and not (picking.isdigit() and int(picking) > 0):
        raise typer.BadParameter("a number, or all", param_hint="--picking")
    text = inputs.read_text(program)
    local = load(text, str(program), local=True)
    _warn(local, no_warn)
    if algorithm == "auto":
        algorithm = "annotated" if inputs.needs_annotations(text, str(program)) else "psn"
    given = inputs.load_facts(facts, local) if facts else []
    bursts = inputs.load_bursts(updates, local) if updates else []
    if len(bursts) != 1:
        raise error(
            "TL1055", f"the checker explores one burst of updates, and there are {len(bursts)}",
            help="give --updates with one burst: updates without a blank line between them",
        )  # fmt: skip
    verdict = explore(
        local, given, bursts[0], algorithm, picking=None if picking == "all" else int(picking),
        reduce=not no_reduction, limit=limit or DEFAULT_LIMIT, progress=_Explored(),
    )  # fmt: skip
    typer.echo(str(verdict))
    if not verdict.holds:
        raise typer.Exit(2)


def _run_bursts(running: Launched, given: list[Fact], bursts: list[list[Update]]) -> None:
    from tidelog.net.values import Update

    typer.echo(f"{'burst':>5}  {'updates':>9}  {'messages':>9}  {'bytes':>11}  {'rounds':>6}  {'seconds':>7}")
    _line("start", running.burst([Update(1, f) for f in given]))
    for number, burst in enumerate(bursts, 1):
        _line(str(number), running.burst(burst))


def _line(name: str, cost: Convergence) -> None:
    counted = f"{cost.updates:>9,}  {cost.messages:>9,}  {cost.bytes:>11,}  {cost.rounds:>6,}"
    typer.echo(f"{name:>5}  {counted}  {cost.seconds:>7.2f}")
    for update in cost.waiting[:10]:
        print(f"  waiting: {update}, because the fact is nowhere", file=sys.stderr)
    if len(cost.waiting) > 10:
        print(f"  waiting: {len(cost.waiting) - 10:,} more deletions", file=sys.stderr)


def _summary(running: Launched, setting: Setting, show: Iterable[str]) -> None:
    from tidelog.net.values import fact_order

    facts = running.facts()
    counts = Counter(f.name for f in facts if f.name in setting.original)
    held = ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items())) or "nothing"
    typer.echo(f"converged on {running.size:,} nodes ({setting.described}): {held}")
    for relation in show:
        for fact in sorted((f for f in facts if f.name == relation), key=fact_order):
            typer.echo(str(fact))


def _check_shown(program: NetProgram, show: Iterable[str]) -> None:
    for relation in show:
        if relation not in program.arity:
            raise error("TL1040", f"the program has no relation `{relation}`")


def _create(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as problem:
        raise error("TL1056", f"cannot write {path}: {problem.strerror}") from None


def _write_page(running: Launched, path: Path, program: Path) -> None:
    from tidelog.net.runtime.replay_page import page

    trace = running.trace
    assert trace is not None
    with _create(path) as out:
        out.write(page(trace.records, program.name, trace.left_out))
    if trace.left_out:
        print(
            f"note: the page shows the first {len(trace.records):,} steps; {trace.left_out:,} did not fit "
            "(--trace writes all of them)", file=sys.stderr,
        )  # fmt: skip


def _warn(program: NetProgram, hidden: bool) -> None:
    if program.warnings and not hidden:
        print(render(program.warnings), file=sys.stderr)


class _Slow:
    """Says something on standard error every few seconds, and nothing in the first two."""

    def __init__(self) -> None:
        self._due = time.monotonic() + 2

    def say(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._due:
            self._due = now + 5
            print(text, file=sys.stderr, flush=True)


class _News(_Slow):
    def __call__(self, cost: Convergence) -> None:
        self.say(f"… {cost.updates:,} updates, {cost.messages:,} messages, {cost.rounds:,} rounds")


class _Explored(_Slow):
    def __call__(self, configurations: int, length: int) -> None:
        self.say(f"… {configurations:,} configurations, runs of {length:,} steps")
