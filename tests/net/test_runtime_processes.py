"""Nodes spread over processes: the same facts as in one process; strangers get nothing; a dead process is noticed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tidelog.errors import TidelogError
from tidelog.net import Update
from tidelog.net.runtime import inputs
from tidelog.net.runtime.launch import OneProcess, Setting
from tidelog.net.runtime.topologies import topology

zmq = pytest.importorskip("zmq")
pytest.importorskip("zmq.utils.monitor")

from tidelog.net.runtime.channel import Channel, Keys  # noqa: E402
from tidelog.net.runtime.processes import ManyProcesses  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples" / "net"


def bursts_of(setting: Setting, stem: str) -> list[list[Update]]:
    facts = inputs.load_facts(EXAMPLES / f"{stem}.facts", setting.program)
    return [[Update(1, f) for f in facts], *inputs.load_bursts(EXAMPLES / f"{stem}.updates", setting.program)]


@pytest.mark.parametrize("stem", ["reachability", "best_path", "chord_lookup"])
def test_processes_end_as_one_process_does(stem: str) -> None:
    one = OneProcess(Setting.load(EXAMPLES / f"{stem}.ndlog", schedule="random", seed=3))
    setting = Setting.load(EXAMPLES / f"{stem}.ndlog", schedule="random", seed=3, processes=2)
    with ManyProcesses(setting) as many:
        for burst in bursts_of(setting, stem):
            one.burst(burst)
            many.burst(burst)
            assert many.facts() == one.facts()
        assert many.size == one.size


def test_costs_that_no_order_can_change_are_those_of_one_process() -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=3)
    links = [Update(1, f) for f in topology("ring:12").facts(setting.program)]
    one = OneProcess(setting).burst(links)
    with ManyProcesses(setting) as many:
        cost = many.burst(links)
        gone = many.burst([Update(-1, u.fact) for u in links])
        assert not many.facts()
        assert many.burst([Update(-1, links[0].fact)]).waiting == [Update(-1, links[0].fact)]
    assert (cost.updates, cost.messages, cost.bytes) == (one.updates, one.messages, one.bytes)
    assert gone.messages == cost.messages


def test_a_killed_process_is_noticed() -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=2)
    with ManyProcesses(setting) as many:
        links = [Update(1, f) for f in topology("ring:8").facts(setting.program)]
        many.burst(links)
        many.workers[1].send_signal(signal.SIGKILL)
        many.workers[1].wait()
        with pytest.raises(TidelogError, match="process 1 of 2 has ended \\(killed by signal 9\\)"):
            many.burst([Update(-1, u.fact) for u in links])


def test_a_run_that_never_settles_ends_in_every_process_with_the_rule(tmp_path: Path) -> None:
    program = tmp_path / "endless.ndlog"
    program.write_text("r0: n(@X,Y,0) :- link(@X,Y).\nr1: n(@Y,X,C) :- n(@X,Y,B), C=B+1.\n")
    setting = Setting.load(program, limit=500, processes=2)
    with ManyProcesses(setting) as many, pytest.raises(TidelogError, match="rule `r1`") as caught:
        many.burst([Update(1, f) for f in topology("ring:4").facts(setting.program)])
    assert caught.value.codes == ("TL1030",)
    assert "endless.ndlog:2" in str(caught.value)


def test_a_peer_with_the_key_is_heard() -> None:
    keys = Keys.fresh()
    inside, peer = Channel(keys), Channel(keys)
    try:
        peer.connect(0, inside.port)
        peer.send(0, ["hello"])
        assert inside.receive(5000) == ["hello"]
    finally:
        inside.close()
        peer.close()


def test_a_peer_without_the_key_gets_nothing_and_is_not_heard() -> None:
    """Three strangers: one without encryption, one that knows the server's public key only, one with a wrong key."""
    keys = Keys.fresh()
    inside = Channel(keys)
    context = zmq.Context()
    stranger, other = Keys.fresh(), Keys.fresh()
    try:
        for own, server in ((None, None), (stranger, keys), (stranger, other)):
            events = []
            socket = context.socket(zmq.PUSH)
            socket.linger = 0
            if own and server:
                socket.curve_publickey, socket.curve_secretkey = own.public.encode(), own.secret.encode()
                socket.curve_serverkey = server.public.encode()
            monitor = socket.get_monitor_socket()
            socket.connect(f"tcp://127.0.0.1:{inside.port}")
            socket.send(b'["end"]', zmq.NOBLOCK)
            while monitor.poll(1000) and zmq.EVENT_DISCONNECTED not in events:
                event = zmq.utils.monitor.recv_monitor_message(monitor)["event"]
                events.append(event)
                if event in FAILED:
                    break
            assert zmq.EVENT_HANDSHAKE_SUCCEEDED not in events
            assert inside.receive(100) is None
            socket.disable_monitor()
            monitor.close(linger=0)
            socket.close(linger=0)
        assert inside.receive(200) is None
    finally:
        inside.close()
        context.destroy(linger=0)


FAILED = (
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, zmq.EVENT_HANDSHAKE_FAILED_AUTH
)  # fmt: skip
