"""A picture of a town as SVG: roads, those that are closed, the depots, and which is the nearest to every crossing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from town import Road, Town

SCALE, MARGIN = 16, 20
COLORS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#ee8866", "#44bb99", "#99ddff")


def draw(town: Town, open_roads: Iterable[Road], nearest: dict[int, int], route: list[int], path: Path) -> None:
    """Write the picture: crossings in the colour of their nearest depot, and one route in black."""
    size = SCALE * town.side + 2 * MARGIN
    colors = dict(zip(sorted(set(nearest.values())), COLORS, strict=False))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}">']
    lines.append(f'<rect width="{size}" height="{size}" fill="white"/>')
    still_open = {road[:2] for road in open_roads}
    for x, y, _ in town.roads:
        if (x, y) in still_open:
            lines.append(_line(town, x, y, "#cccccc", 2))
        else:
            lines.append(_line(town, x, y, "#ff0000", 2, 'stroke-dasharray="3 3"'))
    for node, depot in nearest.items():
        lines.append(_dot(town, node, 8 if node == depot else 3, colors[depot]))
    lines += [_line(town, x, y, "#000000", 3) for x, y in pairwise(route)]
    path.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


def _at(town: Town, node: int) -> tuple[float, float]:
    x, y = town.place(node)
    return round(MARGIN + SCALE * (x + 0.5), 1), round(MARGIN + SCALE * (y + 0.5), 1)


def _line(town: Town, one: int, other: int, color: str, width: int, more: str = "") -> str:
    (x1, y1), (x2, y2) = _at(town, one), _at(town, other)
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="{width}" {more}/>'


def _dot(town: Town, node: int, radius: int, color: str) -> str:
    x, y = _at(town, node)
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{color}"/>'
