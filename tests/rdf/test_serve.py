"""The endpoint, asked over real HTTP by SPARQLWrapper and by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
wrapper = pytest.importorskip("SPARQLWrapper")

RULES = "@prefix : <http://e/> .\n[?x, :reaches, ?y] :- [?x, :to, ?y] .\n"
DATA = "<http://e/a> <http://e/to> <http://e/b> .\n"
SELECT = "SELECT ?y { <http://e/a> <http://e/reaches> ?y }"


def started(folder: Path, *options: str, token: str | None = None) -> tuple[subprocess.Popen[str], int]:
    """An endpoint of the command line on a free port, and that port."""
    (folder / "data.nt").write_text(DATA)
    (folder / "r.rules").write_text(RULES)
    command = [sys.executable, "-m", "tidelog", "rdf", "serve", str(folder / "data.nt"), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--rules", str(folder / "r.rules"), *options], stdout=subprocess.PIPE, text=True,
        env=os.environ | ({"TIDELOG_TOKEN": token} if token else {}),
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"listening at http://127\.0\.0\.1:(\d+)/sparql\n", line)
    assert found, line
    return process, int(found[1])


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """An endpoint that takes updates."""
    process, found = started(tmp_path_factory.mktemp("serve"), "--updates")
    yield found
    process.terminate()
    assert process.wait(20) in (0, -15)


def test_a_query_that_takes_too_long_ends_and_the_next_is_answered(tmp_path: Path) -> None:
    process, port = started(tmp_path, "--timeout", "0.5", "--updates")
    try:
        links = " ".join(f"<http://e/n{i}> <http://e/to> <http://e/n{i + 1}> ." for i in range(500))
        assert (
            request(port, "POST", body=f"INSERT DATA {{ {links} }}", Content_Type="application/sparql-update")[0] == 200
        )
        endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"
        status, _, text = request(port, path=f"/sparql?query={quote(endless)}")
        assert (status, "takes longer than 0.5 s" in text) == (503, True)
        slow = f"INSERT {{ ?a <http://e/x> ?c }} WHERE {endless[endless.index('{') :]}"
        assert request(port, "POST", body=slow, Content_Type="application/sparql-update")[0] == 503
        assert request(port, path=f"/sparql?query={quote(SELECT)}")[0] == 200
    finally:
        process.terminate()
        process.wait(20)


def request(
    port: int, method: str = "GET", path: str = "/sparql", body: str = "", **headers: str
) -> tuple[int, str, str]:
    """Status, media type and text of a response."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body.encode() or None, named)
    response = connection.getresponse()
    return response.status, response.headers.get_content_type(), response.read().decode()


def test_sparqlwrapper_asks_and_updates(port: int) -> None:
    endpoint = wrapper.SPARQLWrapper(f"http://127.0.0.1:{port}/sparql")
    endpoint.setReturnFormat(wrapper.JSON)
    endpoint.setQuery(SELECT)
    assert endpoint.queryAndConvert()["results"]["bindings"] == [{"y": {"type": "uri", "value": "http://e/b"}}]
    endpoint.setMethod(wrapper.POST)
    endpoint.setQuery("INSERT DATA { <http://e/w> <http://e/to> <http://e/v> }")
    endpoint.query()
    endpoint.setQuery("ASK { <http://e/w> <http://e/reaches> <http://e/v> }")
    assert endpoint.queryAndConvert()["boolean"] is True
    endpoint.setReturnFormat(wrapper.XML)
    endpoint.setQuery(SELECT)
    assert "http://e/b" in endpoint.queryAndConvert().toxml()
    endpoint.setQuery("CONSTRUCT WHERE { <http://e/a> ?p ?o }")
    assert len(endpoint.queryAndConvert()) == 2


@pytest.mark.parametrize(
    ("method", "path", "body", "kind"),
    [
        ("GET", f"/sparql?query={quote(SELECT)}", "", ""),
        ("GET", f"/?query={quote(SELECT)}", "", ""),
        ("POST", "/sparql", urlencode({"query": SELECT}), "application/x-www-form-urlencoded"),
        ("POST", "/sparql", SELECT, "application/sparql-query"),
        ("POST", "/sparql", SELECT, "application/sparql-query; charset=utf-8"),
    ],
)
def test_a_query_comes_in_every_way_of_the_protocol(port: int, method: str, path: str, body: str, kind: str) -> None:
    status, found, text = request(port, method, path, body, **({"Content_Type": kind} if kind else {}))
    assert (status, found) == (200, "application/sparql-results+json")
    assert json.loads(text)["results"]["bindings"] == [{"y": {"type": "uri", "value": "http://e/b"}}]


@pytest.mark.parametrize(
    ("accept", "kind", "begin"),
    [
        ("text/csv", "text/csv", "y\r\nhttp://e/b"),
        ("text/tab-separated-values", "text/tab-separated-values", "?y\n<http://e/b>"),
        ("application/sparql-results+xml", "application/sparql-results+xml", "<?xml"),
        ("text/csv;q=0.5, application/json", "application/json", '{"head"'),
        ("text/turtle, */*;q=0.1", "application/sparql-results+json", '{"head"'),
    ],
)
def test_the_client_chooses_the_format(port: int, accept: str, kind: str, begin: str) -> None:
    status, found, text = request(port, path=f"/sparql?query={quote(SELECT)}", Accept=accept)
    assert (status, found) == (200, kind)
    assert text.startswith(begin)


def test_updates_come_in_both_ways(port: int) -> None:
    insert, delete = (f"{word} DATA {{ <http://e/m> <http://e/to> <http://e/n> }}" for word in ("INSERT", "DELETE"))
    ask = f"/sparql?query={quote('ASK { <http://e/m> <http://e/reaches> <http://e/n> }')}"
    assert request(port, "POST", body=insert, Content_Type="application/sparql-update")[0] == 200
    assert json.loads(request(port, path=ask)[2])["boolean"] is True
    form = urlencode({"update": delete})
    assert request(port, "POST", body=form, Content_Type="application/x-www-form-urlencoded")[0] == 200
    assert json.loads(request(port, path=ask)[2])["boolean"] is False


@pytest.mark.parametrize(
    ("status", "method", "path", "body", "headers"),
    [
        (400, "GET", "/sparql", "", {}),
        (400, "GET", f"/sparql?query={quote('SELECT ?x {')}", "", {}),
        (400, "GET", f"/sparql?query={quote(SELECT)}&query={quote(SELECT)}", "", {}),
        (400, "GET", f"/sparql?query={quote(SELECT)}&default-graph-uri=http://e/g", "", {}),
        (405, "GET", "/sparql?update=CLEAR%20ALL", "", {}),
        (405, "PUT", "/sparql", "", {}),
        (404, "GET", "/elsewhere", "", {}),
        (406, "GET", f"/sparql?query={quote(SELECT)}", "", {"Accept": "image/png"}),
        (415, "POST", "/sparql", "{}", {"Content_Type": "application/json"}),
        (403, "GET", f"/sparql?query={quote(SELECT)}", "", {"Host": "evil.example:80"}),
        (403, "POST", "/sparql", "update=CLEAR%20ALL",
         {"Content_Type": "application/x-www-form-urlencoded", "Origin": "http://evil.example"}),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_status(
    port: int, status: int, method: str, path: str, body: str, headers: dict[str, str]
) -> None:
    assert request(port, method, path, body, **headers)[0] == status


def test_a_malformed_query_is_told_why(port: int) -> None:
    assert "TL1454" in request(port, path=f"/sparql?query={quote('SELECT ?x {')}")[2]


def test_an_endpoint_takes_no_updates_unless_told_and_asks_for_its_token(tmp_path: Path) -> None:
    process, port = started(tmp_path, token="secret")
    try:
        path = f"/sparql?query={quote(SELECT)}"
        assert request(port, path=path)[0] == 401
        assert request(port, path=path, Authorization="Bearer wrong")[0] == 401
        assert request(port, path=path, Authorization="Bearer secret")[0] == 200
        kind = {"Content_Type": "application/sparql-update", "Authorization": "Bearer secret"}
        assert request(port, "POST", body="CLEAR ALL", **kind)[0] == 403
    finally:
        process.terminate()
        process.wait(20)


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    (tmp_path / "data.nt").write_text(DATA)
    command = [sys.executable, "-m", "tidelog", "rdf", "serve", str(tmp_path / "data.nt"), "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "TL1459" in done.stderr
