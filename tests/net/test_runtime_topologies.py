"""Topologies: generators have the shape they promise; files of each kind say the same; mistakes are plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.errors import TidelogError
from tidelog.net import load
from tidelog.net.runtime.topologies import Topology, topology

LINK3 = load("p(@X,Y) :- link(@X,Y,C).")
LINK2 = load("p(@X,Y) :- link(@X,Y).")


@pytest.mark.parametrize(
    ("text", "nodes", "links"),
    [
        ("ring:1", 1, 0),
        ("ring:2", 2, 1),
        ("ring:100", 100, 100),
        ("grid:10x10", 100, 180),
        ("random:50:0", 50, 0),
        ("random:50:1", 50, 1225),
        ("ba:100:2", 100, 196),
        ("fattree:4", 36, 48),
    ],
)
def test_a_generator_makes_this_many_nodes_and_links(text: str, nodes: int, links: int) -> None:
    made = topology(text, 7)
    assert (len(made.nodes), len(made.links)) == (nodes, links)
    assert len(set(made.links)) == links
    assert all(a != b for a, b, _ in made.links)


def test_a_random_network_has_about_as_many_links_as_expected_and_depends_on_the_seed_only() -> None:
    made = topology("random:400:0.05", 1)
    assert 3600 < len(made.links) < 4400  # 3990 expected
    assert made == topology("random:400:0.05", 1)
    assert made != topology("random:400:0.05", 2)


def test_links_become_facts_in_both_directions_with_costs_if_there_is_room() -> None:
    made = Topology(("a", "b"), (("a", "b", 3),))
    assert [str(f) for f in made.facts(LINK3)] == ["link(a,b,3)", "link(b,a,3)"]
    assert [str(f) for f in made.facts(LINK2)] == ["link(a,b)", "link(b,a)"]


def test_every_kind_of_file_says_the_same(tmp_path: Path) -> None:
    files = {
        "net.txt": "# a comment\na b 2\nb 7\n\nalone\n",
        "net.json": '{"nodes": ["alone", {"id": "a"}], "links": [["a", "b", 2], {"source": "b", "target": 7}]}',
        "net.graphml": """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
            <key id="d0" for="edge" attr.name="weight" attr.type="double"/>
            <graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="7"/><node id="alone"/>
            <edge source="a" target="b"><data key="d0">2.0</data></edge>
            <edge source="b" target="7"/></graph></graphml>""",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        made = topology(str(tmp_path / name))
        assert made.links == (("a", "b", 2), ("b", 7, 1)), name
        assert set(made.nodes) == {"a", "b", 7, "alone"}
        assert not made.directed


def test_what_networkx_writes_can_be_read(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([("a", "b"), ("b", "c")])
    networkx.write_graphml(graph, tmp_path / "net.graphml")
    made = topology(str(tmp_path / "net.graphml"))
    assert made.directed
    assert [str(f) for f in made.facts(LINK2)] == ["link(a,b)", "link(b,c)"]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("net.txt", "a b\na b c\n", "TL1051"),
        ("net.txt", "a b 1 2\n", "TL1051"),
        ("net.json", "{", "TL1051"),
        ("net.json", "[[1]]", "TL1051"),
        ("net.json", '{"links": [{"source": 1}]}', "TL1051"),
        ("net.json", "7", "TL1051"),
        ("net.graphml", "<a/>", "TL1051"),
        ("net.graphml", "<a", "TL1051"),
        ("net.graphml", '<!DOCTYPE x [<!ENTITY y "z">]><a>&y;</a>', "TL1051"),
    ],
)
def test_a_file_that_holds_no_topology_is_refused(tmp_path: Path, name: str, text: str, code: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TidelogError) as caught:
        topology(str(tmp_path / name))
    assert caught.value.codes == (code,)


@pytest.mark.parametrize(
    "text", ["ring:0", "ring:x", "grid:3", "random:5:2", "random:5", "ba:2:2", "fattree:3", "nowhere.txt", "star:4"]
)
def test_a_topology_that_does_not_exist_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(TidelogError, match="generators are ring:N") as caught:
        topology(text)
    assert caught.value.codes == ("TL1050",)


def test_a_program_without_room_for_links_is_refused() -> None:
    for text in ("p(@X) :- q(@X).", "link(@X,Y) :- q(@X,Y).", "p(@X) :- link(@X)."):
        with pytest.raises(TidelogError) as caught:
            topology("ring:3").facts(load(text))
        assert caught.value.codes == ("TL1052",)


@pytest.mark.parametrize("cost", ["nan", "inf", "-inf", "1e999"])
def test_a_cost_is_a_finite_number(tmp_path: Path, cost: str) -> None:
    (tmp_path / "net.txt").write_text(f"a b {cost}\n")
    with pytest.raises(TidelogError, match="TL1051"):
        topology(str(tmp_path / "net.txt"))
    spelled = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(cost, cost)
    (tmp_path / "net.json").write_text(f'[["a","b",{spelled}]]')
    with pytest.raises(TidelogError, match="TL1051"):
        topology(str(tmp_path / "net.json"))


def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text("[" * 100_000)
    with pytest.raises(TidelogError, match="TL1051"):
        topology(str(tmp_path / "net.json"))


@pytest.mark.parametrize(
    "text", ["ring:99999999999", "grid:100000x100000", "random:100000:1", "ba:6000000:1", "fattree:300"]
)
def test_a_network_that_no_run_could_finish_is_not_made(text: str) -> None:
    with pytest.raises(TidelogError, match="too large to be simulated"):
        topology(text)
