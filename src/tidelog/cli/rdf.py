"""`tidelog rdf`: triples and what follows from them, asked in SPARQL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.cli import materialise
from tidelog.errors import error

if TYPE_CHECKING:
    from tidelog.rdf.graph import Graph

app = typer.Typer(help="RDF: triples, what follows from them, and SPARQL.", no_args_is_help=True)
app.command("materialise")(materialise.materialise)
app.command("update")(materialise.update)
app.command("rules")(materialise.rules)

Source = Annotated[
    str, typer.Argument(help="A state directory, or RDF files: a name or a pattern of names.", show_default=False)
]
RuleFiles = Annotated[list[Path] | None, typer.Option("--rules", help="Triple rules: .rules.")]
OntologyFiles = Annotated[list[Path] | None, typer.Option("--ontology", help="An ontology, which becomes rules.")]
RuleSet = Annotated[str | None, typer.Option("--ruleset", help="Rule tables that read an ontology as data.")]
SameAs = materialise.SameAs
Token = Annotated[str | None, typer.Option("--token", envvar="TIDELOG_TOKEN", help="What clients must send.")]


@app.command("query")
def query(
    source: Source,
    text: Annotated[str, typer.Argument(help="A SPARQL query; @file reads it from a file.", show_default=False)],
    form: Annotated[
        str | None,
        typer.Option("--format", help="table, csv, tsv, json, xml; for triples nt, ttl, rdf, jsonld."),
    ] = None,
    rules: RuleFiles = None,
    ontology: OntologyFiles = None,
    ruleset: RuleSet = None,
    same_as: SameAs = "axioms",
    is_update: Annotated[bool, typer.Option("--update", help="The text is a SPARQL update of a state.")] = False,
    timeout: Annotated[float | None, typer.Option(min=0, help="End the query after this many seconds.")] = None,
) -> None:
    """The answer to a SPARQL query, on standard output."""
    from tidelog.rdf import sparql
    from tidelog.rdf.sparql.results import formats_of, write_answer

    if is_update and not is_state(source):
        raise error("TL1461", f"`{source}` is no state directory, and files are not updated",
                    help="tidelog rdf materialise makes a state of them")  # fmt: skip
    with opened(source, rules, ontology, ruleset, same_as, writable=is_update) as graph:
        if is_update:
            print(sparql.update(_text(text), graph, timeout))
            return
        answer = sparql.query(_text(text), graph, timeout)
        write_answer(answer, form or formats_of(answer)[0], sys.stdout.buffer)


@app.command("serve")
def serve(
    source: Source,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8090,
    token: Token = None,
    updates: Annotated[bool, typer.Option("--updates", help="Take SPARQL updates, too.")] = False,
    timeout: Annotated[float, typer.Option(min=0, help="Most seconds that a query may take; 0 for no limit.")] = 60,
    rules: RuleFiles = None,
    ontology: OntologyFiles = None,
    ruleset: RuleSet = None,
    same_as: SameAs = "axioms",
) -> None:
    """A SPARQL 1.1 endpoint at http://HOST:PORT/sparql, until it is interrupted."""
    from tidelog.rdf.serve.run import serve as run

    with opened(source, rules, ontology, ruleset, same_as, writable=updates) as graph:
        run(
            graph,
            host,
            port,
            token,
            updates,
            timeout or None,
            lambda address: print(f"listening at {address}", flush=True),
        )


def opened(
    source: str,
    rules: list[Path] | None,
    ontology: list[Path] | None,
    ruleset: str | None,
    same_as: str = "axioms",
    writable: bool = False,
) -> Graph:
    """The graph of a state directory, or of files, which are read now."""
    from tidelog.rdf.graph import Graph

    if is_state(source):
        return Graph(
            state=source, rules=rules, ontology=ontology, ruleset=ruleset, same_as=same_as, read_only=not writable
        )
    strategy = "elastic" if writable else "batch"  # what never changes is kept in a third of the memory
    return Graph(source, rules=rules, ontology=ontology, ruleset=ruleset, same_as=same_as, strategy=strategy)


def is_state(source: str) -> bool:
    from tidelog.state.manifest import NAME

    return "://" in source or (Path(source) / NAME).exists()


def _text(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise error("TL1460", f"cannot read the query from `{given[1:]}`: {problem}") from None
