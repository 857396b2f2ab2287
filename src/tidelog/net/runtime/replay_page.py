"""A page that replays a trace in any browser, without a network: topology, messages in flight, node state at each step.

The records of the trace are inside the page. The browser keeps the state after the step shown; going forward applies
one record, going back starts again from the beginning, which for the records that fit on a page takes milliseconds.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from importlib.resources import files

from tidelog.net.runtime.merge import Record


def page(records: Sequence[Record], title: str, left_out: int = 0) -> str:
    """The whole page as text; `left_out` records of the run are not in it, and the page says so."""
    data = json.dumps({"records": list(records), "leftOut": left_out}, ensure_ascii=False)
    safe = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    folder = files("tidelog.net.runtime")
    template = folder.joinpath("replay.html").read_text(encoding="utf-8")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in ("replay_layout.js", "replay.js")]
    script = "\n".join(scripts)
    return (
        template.replace("@TITLE@", html.escape(title)).replace("@SCRIPT@", script).replace("@DATA@", safe)
    )  # the data last: it may hold anything
