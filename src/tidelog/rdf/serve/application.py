"""The endpoint as an ASGI application.

What is always true: requests are answered one at a time, so that a query never sees half of an update, and none takes
longer than the endpoint allows; an update is taken only where it is allowed. Without a token only requests that name
this machine as their host are answered, and none that a web page of another place sends: a page in a browser must
neither ask for nor change what lies on its user's machine.
"""

from __future__ import annotations

import hmac
import io
import threading
from typing import TYPE_CHECKING

from tidelog.errors import TidelogError
from tidelog.rdf.graph import Graph
from tidelog.rdf.serve.protocol import RefusedRequest, asked, chosen
from tidelog.rdf.sparql.graph_triples import query
from tidelog.rdf.sparql.results import write_answer
from tidelog.rdf.sparql.update import update

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST_BODY = 64 << 20
HERE = ("localhost", "127.0.0.1", "[::1]")


class Endpoint:
    """Answers requests about a graph."""

    def __init__(
        self, graph: Graph, token: str | None = None, updates: bool = False, timeout: float | None = None
    ) -> None:
        self.graph, self.token, self.updates, self.timeout = graph, token, updates, timeout
        self._lock = threading.Lock()

    async def answer(self, request: Request) -> Response:
        """The response to a request."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import PlainTextResponse

        try:
            self._admit(request)
            body = await _body(request)
            return await run_in_threadpool(self._answered, request, body)
        except RefusedRequest as refused:
            more = {"WWW-Authenticate": "Bearer"} if refused.status == 401 else None
            return PlainTextResponse(f"{refused.message}\n", refused.status, more)

    def _admit(self, request: Request) -> None:
        if self.token is not None:
            given = request.headers.get("authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
                raise RefusedRequest(401, "this endpoint needs a token")
            return
        host = request.headers.get("host", "")
        if host.rpartition(":")[0] not in HERE and host not in HERE:
            raise RefusedRequest(403, f"this endpoint is not called {host}")
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise RefusedRequest(403, "a web page of another place cannot ask this endpoint")

    def _answered(self, request: Request, body: bytes) -> Response:
        from starlette.responses import PlainTextResponse, Response

        headers = request.headers
        what = asked(request.method, request.url.query, headers.get("content-type", ""), body)
        try:
            with self._lock:
                if not what.is_update:
                    answer = query(what.text, self.graph, self.timeout)
                    kind, form = chosen(answer, headers.get("accept", ""))
                    stream = io.BytesIO()
                    write_answer(answer, form, stream)
                    return Response(stream.getvalue(), media_type=kind)
                if not self.updates:
                    raise RefusedRequest(403, "this endpoint takes no updates")
                done = update(what.text, self.graph, self.timeout)
        except TidelogError as problem:
            late = any(one.code == "TL1462" for one in problem.diagnostics)
            return PlainTextResponse(f"{problem}\n", 503 if late else 400)
        return PlainTextResponse(f"{done}\n")


async def _body(request: Request) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > LARGEST_BODY:
            raise RefusedRequest(413, f"a request has at most {LARGEST_BODY >> 20} MiB")
    return bytes(found)


def application(endpoint: Endpoint) -> Starlette:
    """The application: the endpoint is at /sparql, and at / for those who only know the host."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    return Starlette(routes=[Route(path, endpoint.answer, methods=["GET", "POST"]) for path in ("/sparql", "/")])
