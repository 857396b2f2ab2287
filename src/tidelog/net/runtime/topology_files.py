"""Topologies from files. The suffix decides: .json, .graphml or .xml; anything else is an edge list.

- Edge list: `a b` or `a b cost` on each line, `#` and `//` start a comment; a name alone is a node without links.
  A first line `directed` makes the links go one way.
- JSON: `{"nodes": [...], "links": [{"source": a, "target": b, "cost": 1}], "directed": false}`; nodes may be names or
  objects with an `id`, links may be arrays `[a, b]` or `[a, b, cost]`, and `edges` and `weight` are understood: this is
  what networkx and D3 write. A bare array is the links.
- GraphML: nodes, edges, `edgedefault`, and the edge data named `cost` or `weight`.

A name that looks like an integer is that integer, as in NDlog.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tidelog.errors import Source, Span, TidelogError, error
from tidelog.net.runtime.topologies import Link, Topology
from tidelog.net.values import Value, normal


def read(path: Path) -> Topology:
    """The topology in a file; a TidelogError if it is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise error("TL1050", f"cannot read {path}: {problem}") from None
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _json(text, path)
    if suffix in (".graphml", ".xml"):
        return _graphml(text, path)
    return _edge_list(text, path)


def _edge_list(text: str, path: Path) -> Topology:
    source = Source(str(path), text)
    links: list[Link] = []
    nodes: list[Value] = []
    directed, offset = False, 0
    for line in text.splitlines(keepends=True):
        words = line.split("#")[0].split("//")[0].replace(",", " ").split()
        span = Span(source, offset, offset + len(line.rstrip()))
        offset += len(line)
        if words == ["directed"] and not nodes:
            directed = True
        elif len(words) > 3:
            raise error("TL1051", "a link is two nodes and perhaps a cost", span)
        elif words:
            ends = [_name(w) for w in words[:2]]
            nodes += ends
            if len(ends) == 2:
                links.append((ends[0], ends[1], _cost(words[2], span) if len(words) == 3 else 1))
    return _topology(nodes, links, directed)


def _json(text: str, path: Path) -> Topology:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise error("TL1051", f"{path} is not JSON: {problem}") from None
    if isinstance(data, list):
        data = {"links": data}
    wrong = error("TL1051", f"{path} does not hold a topology", help='write {"nodes": […], "links": [[a, b, cost], …]}')
    if not isinstance(data, dict):
        raise wrong
    try:
        nodes = [_json_name(n["id"] if isinstance(n, dict) else n, wrong) for n in data.get("nodes") or ()]
        links = [_json_link(link, wrong) for link in data.get("links") or data.get("edges") or ()]
    except (KeyError, TypeError):
        raise wrong from None
    ends = [end for a, b, _ in links for end in (a, b)]
    return _topology([*nodes, *ends], links, data.get("directed", False) is True)


def _json_link(link: Any, wrong: TidelogError) -> Link:
    if isinstance(link, dict):
        link = [link["source"], link["target"], link.get("cost", link.get("weight", 1))]
    if not isinstance(link, list) or len(link) not in (2, 3):
        raise wrong
    cost = link[2] if len(link) == 3 else 1
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not math.isfinite(cost):
        raise wrong
    return _json_name(link[0], wrong), _json_name(link[1], wrong), normal(cost)


def _json_name(name: Any, wrong: TidelogError) -> Value:
    if isinstance(name, str):
        return _name(name)
    if isinstance(name, int) and not isinstance(name, bool):
        return name
    raise wrong


def _graphml(text: str, path: Path) -> Topology:
    from xml.etree import ElementTree

    if "<!ENTITY" in text:
        raise error("TL1051", f"{path} declares entities, which a topology has no use for")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        raise error("TL1051", f"{path} is not XML: {problem}") from None
    graph = root.find("{*}graph")
    if graph is None:
        raise error("TL1051", f"{path} holds no graph", help="GraphML has a <graph> inside <graphml>")
    keys = {k.get("id"): k.get("attr.name") for k in root.findall("{*}key") if k.get("for") in ("edge", "all")}
    nodes = [_name(n.get("id", "")) for n in graph.findall("{*}node")]
    links: list[Link] = []
    for edge in graph.findall("{*}edge"):
        cost: int | float = 1
        for data in edge.findall("{*}data"):
            if keys.get(data.get("key")) in ("cost", "weight"):
                cost = _cost((data.text or "").strip(), None)
        links.append((_name(edge.get("source", "")), _name(edge.get("target", "")), cost))
    return _topology(nodes, links, graph.get("edgedefault") == "directed")


def _topology(nodes: Iterable[Value], links: list[Link], directed: bool) -> Topology:
    ends = (end for a, b, _ in links for end in (a, b))
    return Topology(tuple(dict.fromkeys([*nodes, *ends])), tuple(links), directed)


def _name(word: str) -> Value:
    return int(word) if word.isdecimal() and word.isascii() else word


def _cost(word: str, span: Span | None) -> int | float:
    try:
        cost = normal(float(word)) if not word.lstrip("-").isdecimal() else int(word)
        if not math.isfinite(cost):
            raise ValueError
    except (ValueError, OverflowError):
        raise error("TL1051", f"`{word}` is no cost of a link", span, help="a cost is a finite number") from None
    return cost
