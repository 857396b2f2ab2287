"""`tidelog rdf materialise`, `tidelog rdf update`, `tidelog rdf rules`: graphs in state directories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidelog.cli.loading import threads_of
from tidelog.cli.on_spark import Master, spark_if_wanted

if TYPE_CHECKING:
    from tidelog.rdf.graph import Graph

Rules = Annotated[list[Path] | None, typer.Option("--rules", help="Triple rules: .rules.")]
Axioms = Annotated[list[Path] | None, typer.Option("--ontology", help="An ontology, which becomes rules.")]
Ruleset = Annotated[
    str | None, typer.Option("--ruleset", help="Rule tables that read an ontology as data: rdfs, owl2rl, owl2rl-terms.")
]
SameAs = Annotated[
    str, typer.Option("--same-as", help="Equal resources: axioms lets them share triples, representatives merges them.")
]
Local = Annotated[bool, typer.Option("--local", help="Without Spark, which is what is done without --master.")]
Jobs = Annotated[str, typer.Option("--jobs", "-j", help="Threads that read; auto takes all cores.")]
Skip = Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed lines out, and say how many.")]
SHOWN = 10


def materialise(
    data: Annotated[list[str], typer.Argument(help="RDF files: names, or patterns of names.", show_default=False)],
    state: Annotated[str | None, typer.Option(help="The state directory to make, for update and query.")] = None,
    rules: Rules = None,
    ontology: Axioms = None,
    ruleset: Ruleset = None,
    same_as: SameAs = "axioms",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write all triples to this file.")] = None,
    jobs: Jobs = "1",
    skip_bad_rows: Skip = False,
    local: Local = False,
    master: Master = None,
) -> None:
    """Compute every triple that follows from RDF files by rules, an ontology, or both."""
    from tidelog.cli.progress import Progress
    from tidelog.errors import error

    with Progress() as progress, spark_if_wanted(None if local else master, progress.note) as spark:
        from tidelog.rdf.graph import Graph
        from tidelog.store import native

        native.announce = progress.note
        session = spark()
        if session is not None:
            if state is None or output is not None:
                raise error(
                    "TL1418", "on Spark a graph is kept in a state directory", help="give --state, not --output"
                )
            if same_as != "axioms":
                raise error(
                    "TL1417", "on Spark equal resources are not merged", help="leave --master or --same-as away"
                )
            _on_spark(session, data, rules, ontology, ruleset, state, skip_bad_rows, progress)
            return
        made = Graph(
            list(data), rules=rules, ontology=ontology, ruleset=ruleset, same_as=same_as, state=state,
            strategy="elastic" if state else "batch",
            threads=threads_of(jobs), skip_bad_rows=skip_bad_rows, observer=progress,
        )  # fmt: skip
        with made as graph:
            given = sum(len(triples) for triples in graph.given())
            print(f"{given:,} triples were given, and {len(graph) - given:,} follow: {len(graph):,}")
            _tell(graph, axioms=True)
            if output is not None:
                print(f"{graph.write(output):,} triples are in {output}")


def update(
    state: Annotated[str, typer.Argument(help="The state directory.", show_default=False)],
    insert: Annotated[list[str] | None, typer.Option(help="Files of triples to insert.")] = None,
    delete: Annotated[list[str] | None, typer.Option(help="Files of triples to delete.")] = None,
    insert_ontology: Annotated[list[str] | None, typer.Option(help="Files of axioms to add.")] = None,
    delete_ontology: Annotated[list[str] | None, typer.Option(help="Files of axioms to take away.")] = None,
    rules: Annotated[list[Path] | None, typer.Option("--rules", help="Rules in the place of the graph's.")] = None,
    skip_bad_rows: Skip = False,
    local: Local = False,
    master: Master = None,
) -> None:
    """Delete and insert triples and axioms, and bring everything that follows from them up to date."""
    from tidelog.cli.progress import Progress
    from tidelog.errors import error

    with Progress() as progress, spark_if_wanted(None if local else master, progress.note) as spark:
        from tidelog.rdf.graph import Graph, stored_program
        from tidelog.rdf.program import parsed_rules, read_axioms
        from tidelog.store import native

        native.announce = progress.note
        session = spark()
        stored = stored_program(state)
        if stored is None:
            raise error("TL1404", f"there is no graph in `{state}`", help="make one with tidelog rdf materialise")
        if session is not None:
            from tidelog.rdf import on_spark

            program = None
            if rules or insert_ontology or delete_ontology:
                new = parsed_rules(rules) if rules else None
                program = stored.changed(new, read_axioms(delete_ontology), read_axioms(insert_ontology))
            epoch, count = on_spark.update(session, state, insert, delete, program, progress)
            print(f"{epoch}; {count:,} triples")
            return
        with Graph(state=state, skip_bad_rows=skip_bad_rows, observer=progress) as graph:
            done = graph.update(
                insert, delete, rules=rules, insert_ontology=insert_ontology, delete_ontology=delete_ontology
            )
            print(f"{done}; {len(graph):,} triples")
            _tell(graph, axioms=bool(insert_ontology or delete_ontology))


def rules(
    ontology: Annotated[list[Path], typer.Argument(help="Files of an ontology.", show_default=False)],
) -> None:
    """Print the rules that an ontology becomes; what is outside of OWL 2 RL goes to standard error."""
    from tidelog.lang.rules_printer import print_program
    from tidelog.rdf.ontology import Ontology
    from tidelog.rdf.program import read_axioms

    made = Ontology(read_axioms(ontology))
    print(print_program(made.program()), end="")
    for line in made.outside:
        print(f"outside of OWL 2 RL: {line}", file=sys.stderr)


def _on_spark(
    session: Any, data: list[str], rules: Any, ontology: Any, ruleset: str | None, state: str, skip: bool, progress: Any
) -> None:
    from tidelog.rdf import on_spark
    from tidelog.rdf.program import GraphProgram, check_ruleset, parsed_rules, read_axioms

    check_ruleset(ruleset)
    program = GraphProgram(parsed_rules(rules), read_axioms(ontology), ruleset)
    epoch, count = on_spark.materialise(session, data, program, state, skip, progress)
    print(f"{epoch}; {count:,} triples")


def _tell(graph: Graph, axioms: bool) -> None:
    """What the user should know besides: axioms that are no rules, if they are asked for, and violations."""
    for what, lines in (
        ("axioms outside of OWL 2 RL", graph.outside if axioms else []),
        ("violations", [f"{v.rule}: {' '.join(v.triple)} . {' '.join(v.other)} ." for v in graph.violations()]),
    ):
        if lines:
            print(f"{len(lines):,} {what}:", file=sys.stderr)
            for line in lines[:SHOWN]:
                print(f"  {line}", file=sys.stderr)
            if len(lines) > SHOWN:
                print(f"  and {len(lines) - SHOWN:,} more", file=sys.stderr)
