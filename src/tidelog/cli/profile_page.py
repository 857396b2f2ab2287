"""A profile as a self-contained page: bars per rule, a curve per iteration, memory per relation."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import cycle

from tidelog.evaluate.profile import Profile, Size, Total

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em; color: #1b2733; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse; width: 100% } td, th { padding: .25em .6em; text-align: right; vertical-align: top }
th { border-bottom: 2px solid #c5d0da } td.rule, th.rule { text-align: left; font-family: ui-monospace, monospace }
tr:nth-child(even) { background: #f4f7f9 } .bar { fill: #2b7a9e }
.curve { fill: none; stroke: #2b7a9e; stroke-width: 2 }
.axis { stroke: #93a3b1 } text { font: 12px system-ui, sans-serif; fill: #44525f } .area { fill: #2b7a9e22 }
"""


def page(profile: Profile) -> str:
    """The whole document; it needs no network."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tidelog profile</title><style>{_STYLE}</style></head>
<body><h1>Tidelog profile: {profile.seconds:.2f} s</h1>
<p>epoch {profile.epoch}, {escape(profile.strategy)} ({escape(profile.why)})</p>
{_shares(profile.stages(), profile.seconds, "s", 1)}
<h2>Rules</h2>{_rules(profile.totals(), profile.seconds)}
<h2>New tuples per iteration</h2>{_curve(_per_iteration(profile, "tuples"), "tuples")}
<h2>Seconds per iteration</h2>{_curve(_per_iteration(profile, "seconds"), "seconds")}
<h2>Memory</h2>{_shares(profile.memory, sum(profile.memory.values()), "MB", 2**20)}
<h2>Relations</h2>{_relations(profile.sizes())}
</body></html>
"""


_COLOURS = ("#2b7a9e", "#d08b3c", "#5b9e6f", "#8a5fa8", "#b0554f", "#6c7a89", "#c2a83e", "#b9c4cd")


def _shares(parts: Mapping[str, float], whole: float, unit: str, size: float) -> str:
    """One bar from left to right, of parts that add up to the whole, and what they are."""
    if not parts or not whole:
        return ""
    bars, names, before = [], [], 0.0
    for (part, value), colour in zip(parts.items(), cycle(_COLOURS)):
        x, width = 860 * before / whole, 860 * value / whole
        said = f"{escape(part)}: {value / size:,.2f} {unit}, {value / whole:.0%}"
        bars.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="26" fill="{colour}"><title>{said}</title></rect>')
        names.append(f'<span style="color: {colour}">■</span> {said}')
        before += value
    return f'<svg width="860" height="26">{"".join(bars)}</svg><p>{"<br>".join(names)}</p>'


def _rules(totals: list[Total], seconds: float) -> str:
    rows = []
    for total in totals:
        width = 160 * total.seconds / seconds if seconds else 0
        bar = f'<svg width="160" height="12"><rect class="bar" width="{width:.1f}" height="12"/></svg>'
        rows.append(
            f"<tr><td>{total.seconds:.3f}</td><td>{bar}</td><td>{total.derivations:,}</td>"
            f"<td>{total.tuples:,}</td><td>{total.iterations:,}</td>"
            f'<td class="rule" title="{escape(total.task.place)}">{escape(total.task.text)}</td></tr>'
        )
    titles = ("seconds", "", "derivations", "new tuples", "iterations")
    head = f'<tr>{"".join(f"<th>{title}</th>" for title in titles)}<th class="rule">rule</th></tr>'
    return f"<table>{head}{''.join(rows)}</table>"


def _per_iteration(profile: Profile, figure: str) -> list[float]:
    """The sum over all rules for each iteration number."""
    last = max((record.iteration for record in profile.records), default=0)
    sums = [0.0] * (last + 1)
    for record in profile.records:
        sums[record.iteration] += getattr(record, figure)
    return sums


def _curve(values: list[float], unit: str) -> str:
    width, height, left, bottom = 860, 180, 70, 22
    most = max(values, default=0) or 1
    step = (width - left - 10) / max(1, len(values) - 1)
    points = [(left + i * step, 10 + (height - 10) * (1 - v / most)) for i, v in enumerate(values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"{left},{height} {line} {points[-1][0]:.1f},{height}" if points else ""
    top = f"{most:,.0f}" if most >= 10 else f"{most:.3g}"
    return (
        f'<svg width="{width}" height="{height + bottom}">'
        f'<line class="axis" x1="{left}" y1="{height}" x2="{width - 10}" y2="{height}"/>'
        f'<polygon class="area" points="{area}"/><polyline class="curve" points="{line}"/>'
        f'<text x="{left - 6}" y="18" text-anchor="end">{top}</text>'
        f'<text x="{left - 6}" y="{height}" text-anchor="end">0</text>'
        f'<text x="{left}" y="{height + 16}">iteration 0</text>'
        f'<text x="{width - 10}" y="{height + 16}" text-anchor="end">iteration {len(values) - 1}, {unit}</text></svg>'
    )


def _relations(sizes: list[tuple[str, Size]]) -> str:
    most = max((size.total for _, size in sizes), default=1) or 1
    rows = []
    for name, size in sizes:
        parts = ", ".join(f"{escape(part)} {bytes:,}" for part, bytes in size.bytes.items() if bytes)
        width = 160 * size.total / most
        bar = f'<svg width="160" height="12"><rect class="bar" width="{width:.1f}" height="12"/></svg>'
        rows.append(
            f"<tr><td>{size.tuples:,}</td><td>{size.total:,}</td><td>{bar}</td>"
            f'<td class="rule">{escape(name)}</td><td class="rule">{parts}</td></tr>'
        )
    head = '<tr><th>tuples</th><th>bytes</th><th></th><th class="rule">relation</th><th class="rule">where</th></tr>'
    return f"<table>{head}{''.join(rows)}</table>"
