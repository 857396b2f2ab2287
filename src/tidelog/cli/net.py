"""`tidelog net`: run a protocol on a network of nodes; check every interleaving of a small one."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tidelog.errors import Diagnostic, error, render

if TYPE_CHECKING:
    from tidelog.net.program import NetProgram
    from tidelog.net.properties import Property
    from tidelog.net.runtime.launch import Launched, Setting
    from tidelog.net.runtime.network import Convergence
    from tidelog.net.runtime.topologies import Topology
    from tidelog.net.runtime.trace import Trace
    from tidelog.net.values import Fact, Update

app = typer.Typer(help="Network Datalog: run a protocol on many nodes, or check it.", no_args_is_help=True)

NdlogFile = Annotated[Path, typer.Argument(help="The program: .ndlog.", show_default=False)]
FactsFile = Annotated[Path | None, typer.Option("--facts", "-F", help="Base facts, as in `link(@a,b).`")]
TopologyName = Annotated[
    str | None,
    typer.Option(
        "--topology",
        "-t",
        help="A file (edge list, .json, .graphml), or ring:N, grid:WxH, random:N:P, ba:N:M, fattree:K.",
    ),
]
LinkRelation = Annotated[str, typer.Option("--link", help="The relation that holds the links of the topology.")]
UpdatesFile = Annotated[
    Path | None,
    typer.Option("--updates", "-U", help="Updates, as in `+link(@a,b), -link(@b,c)`; blank lines end a burst."),
]
AlgorithmName = Annotated[
    str,
    typer.Option(
        "--algorithm",
        "-a",
        help="psn, supported, annotated, cut (annotated, without following cycles), or auto: what the program needs.",
    ),
]
Always = Annotated[
    list[str] | None, typer.Option("--always", help="A property of every state, as in '!violation(@N)'.")
]
Eventually = Annotated[list[str] | None, typer.Option("--eventually", help="A property of some state of every run.")]
Finally = Annotated[list[str] | None, typer.Option("--finally", help="A property of the state in which a run ends.")]
Until = Annotated[float, typer.Option("--until", help="Programs about time: when the run ends.", min=0)]
Crashes = Annotated[
    list[str] | None,
    typer.Option("--crash", help="Programs about time: NODE:FROM:TO, or NODE:FROM:TO:keeps if its tables survive."),
]
NoWarnings = Annotated[bool, typer.Option("--no-warn", "-w", help="Show no warnings.")]


@app.command("run")
def run(
    program: NdlogFile,
    topology: TopologyName = None,
    updates: UpdatesFile = None,
    facts: FactsFile = None,
    schedule: Annotated[str, typer.Option("--schedule", "-s", help="fifo, lifo, random, deletions-first, insertions-first, starve, delays.")] = "fifo",  # noqa: E501
    seed: Annotated[int, typer.Option("--seed", help="Decides random schedules and topologies.")] = 0,
    starve: Annotated[str | None, typer.Option("--starve", help="The node that --schedule starve keeps waiting.")] = None,  # noqa: E501
    delays: Annotated[Path | None, typer.Option("--delays", help="How long each link takes with --schedule delays: a topology file, its costs are the delays.")] = None,  # noqa: E501
    algorithm: AlgorithmName = "auto",
    batch: Annotated[bool, typer.Option("--batch", help="A node takes everything that has arrived for it at once.")] = False,  # noqa: E501
    cancel: Annotated[bool, typer.Option("--cancel", help="Opposite updates that meet in an inbox vanish.")] = False,
    link: LinkRelation = "link",
    limit: Annotated[int | None, typer.Option("--limit", help="Most updates that rules may make.", min=1)] = None,
    processes: Annotated[int, typer.Option("--processes", "-p", help="Spread the nodes over processes.", min=1)] = 1,
    show: Annotated[list[str] | None, typer.Option("--show", help="Print the facts of this relation at the end.")] = None,  # noqa: E501
    trace: Annotated[Path | None, typer.Option("--trace", help="Write what happens as JSON lines.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page that replays the run.")] = None,
    until: Until = 60,
    lose: Annotated[float, typer.Option("--lose", help="Programs about time: the share of messages that is lost.", min=0, max=1)] = 0,  # noqa: E501
    duplicate: Annotated[float, typer.Option("--duplicate", help="Programs about time: the share that comes twice.", min=0, max=1)] = 0,  # noqa: E501
    late: Annotated[float, typer.Option("--late", help="Programs about time: how much longer messages may take.", min=0)] = 0,  # noqa: E501
    crash: Crashes = None,
    always: Always = None,
    eventually: Eventually = None,
    finally_: Finally = None,
    no_warn: NoWarnings = False,
) -> None:  # fmt: skip
    """Run a program on a network: converge, then converge again after each burst of updates; or until a time."""
    from tidelog.net.runtime import inputs
    from tidelog.net.runtime.launch import Setting, launch

    if inputs.is_about_time(program):
        from tidelog.cli import net_time

        net_time.run(
            program, topology, updates, facts, seed=seed, delays=delays, link=link, limit=limit, show=show or (),
            trace=trace, html=html, until=until, faults=(lose, duplicate, late, crash or ()),
            asked=(always, eventually, finally_), no_warn=no_warn,
        )  # fmt: skip
        return
    if lose or duplicate or late or crash or always or eventually or finally_:
        raise error(
            "TL1068", "this program is not about time: it has no lifetimes and no `periodic`",
            help="faults and properties of all its runs are for `tidelog net check`",
        )  # fmt: skip
    setting = Setting.load(
        program, schedule=schedule, seed=seed, starve=starve, delays=delays, algorithm=algorithm, batch=batch,
        cancel=cancel, limit=limit, processes=processes,
    )  # fmt: skip
    local = setting.program
    _check_shown(local, show or ())
    network, links = linked(topology, seed, local, link)
    given = [*local.facts, *links]
    given += inputs.load_facts(facts, local) if facts else []
    bursts = inputs.load_bursts(updates, local) if updates else []
    setting = setting.for_facts([*given, *(u.fact for burst in bursts for u in burst if u.sign > 0)])
    warn(local.warnings, setting.method.reasons, no_warn)
    _check_starved(setting, [*given, *(u.fact for burst in bursts for u in burst)], network)
    if not network and not facts and not given:
        raise error("TL1054", "there is no network to run on", help="give --topology, --facts, or facts in the program")
    with ExitStack() as stack:
        out = stack.enter_context(create(trace)) if trace else None
        running = stack.enter_context(launch(setting, network, out, html is not None, _News()))
        _run_bursts(running, given, bursts)
        _summary(running, setting, show or ())
        if html:
            assert running.trace is not None
            write_page(running.trace, html, program)


@app.command("check")
def check(
    program: NdlogFile,
    topology: TopologyName = None,
    facts: FactsFile = None,
    updates: UpdatesFile = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="As in `run`, or an exhibit: original, counting, base-facts, set-sn.")] = "auto",  # noqa: E501
    picking: Annotated[str, typer.Option("--picking", help="The most updates of one iteration: a number, or all.")] = "1",  # noqa: E501
    no_reduction: Annotated[bool, typer.Option("--no-reduction", help="Explore every single interleaving.")] = False,
    link: LinkRelation = "link",
    seed: Annotated[int, typer.Option("--seed", help="Decides random topologies.")] = 0,
    limit: Annotated[int | None, typer.Option("--limit", help="Most configurations to explore, and most updates of SN.", min=1)] = None,  # noqa: E501
    always: Always = None,
    eventually: Eventually = None,
    finally_: Finally = None,
    lose: Annotated[int, typer.Option("--lose", help="Most messages that may be lost.", min=0)] = 0,
    duplicate: Annotated[int, typer.Option("--duplicate", help="Most messages that may come twice.", min=0)] = 0,
    crashes: Annotated[int, typer.Option("--crashes", help="Most crashes of nodes; they come back.", min=0)] = 0,
    keep_store: Annotated[bool, typer.Option("--keep-store", help="Nodes come back with what they held.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page that replays the run that breaks a property.")] = None,  # noqa: E501
    runs: Annotated[int, typer.Option("--runs", help="Programs about time: how many runs, each with its own seed.", min=1)] = 100,  # noqa: E501
    until: Until = 60,
    no_warn: NoWarnings = False,
) -> None:  # fmt: skip
    """Explore every interleaving: does each run reach the right state? Exit code 2 if some run does not."""
    from tidelog.net.runtime import inputs

    if inputs.is_about_time(program):
        from tidelog.cli import net_time

        net_time.check(
            program, topology, updates, facts, seed=seed, link=link, limit=limit, html=html, until=until, runs=runs,
            faults=(lose, duplicate, crashes, keep_store), asked=(always, eventually, finally_), no_warn=no_warn,
        )  # fmt: skip
        return
    from tidelog.net import check_bursts
    from tidelog.net.algorithms import choose
    from tidelog.net.checker import DEFAULT_LIMIT
    from tidelog.net.exhibits import EXHIBITS
    from tidelog.net.program import load_local

    if picking != "all" and not (picking.isdigit() and int(picking) > 0):
        raise error("TL1902", f"`--picking {picking}` says not how many", help="give a number, or all")
    local = load_local(inputs.read_text(program), str(program))
    given = [*linked(topology, seed, local, link)[1], *(inputs.load_facts(facts, local) if facts else ())]
    bursts = inputs.load_bursts(updates, local) if updates else []
    if not bursts:
        raise error(
            "TL1055", "there are no updates to check",
            help="give --updates: the checker explores one burst after the other",
        )  # fmt: skip
    if algorithm not in EXHIBITS:
        known = [*local.facts, *given, *(u.fact for burst in bursts for u in burst if u.sign > 0)]
        warn(local.warnings, choose(algorithm, local, known).reasons, no_warn)
    allowed = (lose, duplicate, crashes, keep_store)
    if any(allowed[:3]) or always or eventually or finally_ or html:
        _check_properties(
            local, given, bursts, algorithm, (always, eventually, finally_), allowed, limit, html, program
        )  # fmt: skip
        return
    verdict = check_bursts(
        local, given, bursts, algorithm, picking=None if picking == "all" else int(picking),
        reduce=not no_reduction, limit=limit or DEFAULT_LIMIT, most_updates=limit or DEFAULT_LIMIT,
        progress=_Explored(),
    )  # fmt: skip
    _tell_left_out(verdict.left_out)
    typer.echo(str(verdict))
    if not verdict.holds:
        raise typer.Exit(2)


@app.command("prove")
def prove(
    program: NdlogFile,
    facts: FactsFile = None,
    updates: UpdatesFile = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="The fact to prove, as in 'path(@a,c)'.")] = None,
    strategy: Annotated[str, typer.Option("--strategy", help="psn, sn, or any order of the commands.")] = "psn",
    macros: Annotated[bool, typer.Option("--macros", help="Print every macro-rule, and the rules in it.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="Most rules to apply in the search.", min=1)] = None,
) -> None:  # fmt: skip
    """Print the derivation, in linear logic with subexponentials, of a fact after updates (or a run to the end)."""
    from tidelog.net.linear import DEFAULT_LIMIT, Search, encode, show_proof, verify
    from tidelog.net.meter import Meter
    from tidelog.net.program import load, parse_ground
    from tidelog.net.runtime import inputs
    from tidelog.net.sn import materialise

    if strategy not in ("psn", "sn", "any"):
        raise typer.BadParameter("psn, sn or any", param_hint="--strategy")
    local = load(inputs.read_text(program), str(program))
    given = inputs.load_facts(facts, local) if facts else ()
    view = materialise(local, given, meter=Meter(limit or DEFAULT_LIMIT)).counts()
    bursts = inputs.load_bursts(updates, local) if updates else []
    if len(bursts) > 1:
        raise error("TL1093", "a derivation is about one burst of updates", help="give the first burst only")
    burst = bursts[0] if bursts else []
    if not (query or view or burst):
        raise error("TL1093", "there is nothing to derive: no facts and no updates", help="give --facts or --updates")
    asked = parse_ground(query, local) if query else next(iter(view), None) or burst[0].fact
    sequent = encode(local, view.elements(), burst, asked)
    search = Search(limit or DEFAULT_LIMIT)
    found = search.prove(sequent, strategy) if query else search.run(sequent, strategy)  # type: ignore[arg-type]
    if found is None:
        typer.echo(f"{asked} has no {strategy} proof")
        raise typer.Exit(2)
    typer.echo(show_proof(found, "macros" if macros else "commands"), nl=False)
    rules = verify(found, strategy if query and strategy != "any" else None)
    typer.echo(f"{len(found.executions)} commands, {rules:,} rules, checked one by one")


def _check_properties(
    program: NetProgram, given: list[Fact], bursts: list[list[Update]], algorithm: str,
    asked: tuple[list[str] | None, ...], allowed: tuple[int, int, int, bool], limit: int | None, html: Path | None,
    path: Path,
) -> None:  # fmt: skip
    """Explores the runs with faults, or those of which properties are asked."""
    from tidelog.net.checker import DEFAULT_LIMIT
    from tidelog.net.exhibits import EXHIBITS
    from tidelog.net.faulty import Allowed
    from tidelog.net.property_checker import check_properties
    from tidelog.net.runtime.counterexample import records
    from tidelog.net.runtime.replay_page import page

    if algorithm in EXHIBITS:
        raise error("TL1044", f"properties and faults are not asked of the exhibit `{algorithm}`")
    arity = (program.original or program).arity
    verdict = check_properties(
        program, given, bursts, parse_asked(asked, arity), Allowed(*allowed), algorithm, limit=limit or DEFAULT_LIMIT,
        progress=_Explored(),
    )  # fmt: skip
    _tell_left_out(verdict.left_out)
    typer.echo(str(verdict))
    if not verdict.holds:
        if html:
            with create(html) as out:
                out.write(page(records(verdict, program=path.read_text(encoding="utf-8")), path.name))
        raise typer.Exit(2)


def parse_asked(asked: tuple[list[str] | None, ...], arity: dict[str, int]) -> list[Property]:
    """The properties of the options --always, --eventually, --finally."""
    from tidelog.net.properties import WHEN, parse_property

    return [parse_property(when, text, arity) for when, texts in zip(WHEN, asked, strict=True) for text in texts or ()]


def linked(topology: str | None, seed: int, program: NetProgram, link: str) -> tuple[Topology | None, list[Fact]]:
    """The topology and its links as facts."""
    from tidelog.net.runtime.topologies import topology as make_topology

    network = make_topology(topology, seed) if topology else None
    return network, network.facts(program, link) if network else []


def _run_bursts(running: Launched, given: list[Fact], bursts: list[list[Update]]) -> None:
    from tidelog.net.values import Update

    typer.echo(f"{'burst':>5}  {'updates':>9}  {'messages':>9}  {'bytes':>11}  {'rounds':>6}  {'seconds':>7}")
    _line("start", running.burst([Update(1, f) for f in given]))
    for number, burst in enumerate(bursts, 1):
        _line(str(number), running.burst(burst))


def _line(name: str, cost: Convergence) -> None:
    counted = f"{cost.updates:>9,}  {cost.messages:>9,}  {cost.bytes:>11,}  {cost.rounds:>6,}"
    typer.echo(f"{name:>5}  {counted}  {cost.seconds:>7.2f}")
    if cost.started_over:
        print("  note: so much changes that all nodes began anew, which costs less", file=sys.stderr)
    _tell_left_out(cost.left_out)
    for update in cost.waiting[:10]:
        print(f"  waiting: {update}, because the fact is nowhere", file=sys.stderr)


def _tell_left_out(deletions: Sequence[Update]) -> None:
    for update in deletions[:10]:
        print(f"  left out: {update}, because the fact is not there", file=sys.stderr)
    if len(deletions) > 10:
        print(f"  left out: {len(deletions) - 10:,} more deletions", file=sys.stderr)


def _summary(running: Launched, setting: Setting, show: Iterable[str]) -> None:
    facts = running.facts()
    counts = Counter(f.name for f in facts if f.name in setting.original)
    held = ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items())) or "nothing"
    typer.echo(f"converged on {running.size:,} nodes ({setting.described}): {held}")
    show_facts(facts, show)


def show_facts(facts: Iterable[Fact], relations: Iterable[str]) -> None:
    """The facts of these relations, in their order."""
    from tidelog.net.values import fact_order

    known = list(facts)
    for relation in relations:
        for fact in sorted((f for f in known if f.name == relation), key=fact_order):
            typer.echo(str(fact))


def _check_starved(setting: Setting, facts: Iterable[Fact], network: Topology | None) -> None:
    """A node that nobody has heard of would starve nobody."""
    node = setting.starve
    known = {v for f in facts for v in f.args} | set(network.nodes if network else ())
    if node is not None and node not in known:
        raise error("TL1042", f"there is no node `{node}` to starve", help="--starve names a node of the network")


def _check_shown(program: NetProgram, show: Iterable[str]) -> None:
    for relation in show:
        if relation not in program.arity:
            raise error("TL1040", f"the program has no relation `{relation}`")


def create(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8")
    except OSError as problem:
        raise error("TL1056", f"cannot write {path}: {problem.strerror}") from None


def write_page(trace: Trace, path: Path, program: Path) -> None:
    """The page that replays a trace, and a note if it does not hold all of it."""
    from tidelog.net.runtime.replay_page import page

    with create(path) as out:
        out.write(page(trace.records, program.name, trace.left_out))
    if trace.left_out:
        print(
            f"note: the page shows the first {len(trace.records):,} steps; {trace.left_out:,} did not fit "
            "(--trace writes all of them)", file=sys.stderr,
        )  # fmt: skip


def warn(warnings: Sequence[Diagnostic], reasons: Iterable[str], hidden: bool) -> None:
    """What the user should know before a run, on standard error."""
    if hidden:
        return
    if warnings:
        print(render(warnings), file=sys.stderr)
    for reason in reasons:
        print(f"note: {reason}", file=sys.stderr)


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
