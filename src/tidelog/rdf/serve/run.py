"""Listening: uvicorn on an address, which is this machine alone unless there is a token."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from tidelog.errors import error
from tidelog.rdf.graph import Graph
from tidelog.rdf.serve.application import Endpoint, application


def serve(
    graph: Graph,
    host: str = "127.0.0.1",
    port: int = 8090,
    token: str | None = None,
    updates: bool = False,
    timeout: float | None = None,
    listening: Callable[[str], None] = lambda address: None,
) -> None:
    """Answer requests until the process is asked to end; `listening` is told the address once it is there."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as missing:
        raise error("TL1458", f"serving needs {missing.name}, which is not installed",
                    help="pip install 'tidelog[serve]'") from None  # fmt: skip
    if token is None and not is_here(host):
        raise error("TL1459", f"`{host}` can be reached from other machines: that needs a token",
                    help="put one into the environment variable TIDELOG_TOKEN, or serve on 127.0.0.1")  # fmt: skip
    bound = _bound(host, port)
    with bound:
        shown = f"[{host}]" if ":" in host else host
        listening(f"http://{shown}:{bound.getsockname()[1]}/sparql")
        config = uvicorn.Config(
            application(Endpoint(graph, token, updates, timeout)), log_level="warning", lifespan="off"
        )
        uvicorn.Server(config).run(sockets=[bound])


def is_here(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)  # whoever is told the address can connect at once
    except (OSError, OverflowError) as problem:
        raise error("TL1459", f"cannot listen on {host}:{port}: {problem}") from None
    return found
