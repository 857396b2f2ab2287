"""The picture of which package imports which: `python -m tools.import_graph` writes `docs/dev/imports.svg`.

A package stands above those that import it. An arrow leads from a package to one that it imports; arrows that follow
from others (A needs C because it needs B, and B needs C) are left out. The modules beside the packages, which hold what
everybody needs, are one box, and so are the command line and the public API with what stands beside them.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tidelog"
PICTURE = ROOT / "docs" / "dev" / "imports.svg"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 118, 34, 26, 46, 16
MIDDLE = 1
COLUMNS = {"io": 0, "rdf": 0, "wire": 2, "net": 3}
"""The column of a box that would else be in the middle, so that arrows pass beside boxes."""
Graph = dict[str, set[str]]


def box_of(name: str) -> str:
    """The box of a package or module below `tidelog`."""
    if (SOURCE / name).is_dir() or name == "session":
        return name
    return "cli" if name == "__main__" else "errors, values, …"


def imports() -> Graph:
    """For each box those that its modules import."""
    graph: Graph = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        if parts == ("__init__.py",):
            continue
        here = box_of(parts[0].removesuffix(".py"))
        found = graph.setdefault(here, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                whole = node.module == "tidelog"
                names = [f"tidelog.{alias.name}" for alias in node.names] if whole else [node.module]
            found |= {box_of(name.split(".")[1]) for name in names if name.startswith("tidelog.")}
        found.discard(here)
    return graph


def reachable(graph: Graph, start: str) -> set[str]:
    found, waiting = set[str](), list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph.get(name, ())
    return found


def needed_arrows(graph: Graph) -> Graph:
    """The graph without the arrows that follow from others."""
    below = {name: reachable(graph, name) for name in graph}
    return {
        name: {other for other in found if not any(other in below[third] for third in found if third != other)}
        for name, found in graph.items()
    }


def rows(graph: Graph) -> list[list[str]]:
    """The boxes by how many others stand above them on the longest way."""
    levels: dict[str, int] = {}

    def level(name: str) -> int:
        if name not in levels:
            levels[name] = 1 + max((level(other) for other in graph[name]), default=-1)
        return levels[name]

    result: list[list[str]] = [[] for _ in range(1 + max(map(level, sorted(graph))))]
    for name in sorted(graph):
        result[levels[name]].append(name)
    return result


def picture(graph: Graph) -> str:
    ordered = rows(graph)
    width = 2 * MARGIN + 4 * WIDTH + 3 * GAP_X
    height = 2 * MARGIN + len(ordered) * HEIGHT + (len(ordered) - 1) * GAP_Y
    places = {
        name: (MARGIN + COLUMNS.get(name, MIDDLE) * (WIDTH + GAP_X), MARGIN + y * (HEIGHT + GAP_Y))
        for y, names in enumerate(ordered)
        for name in names
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif"'
        f' font-size="13">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#557"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for name, others in sorted(needed_arrows(graph).items()):
        for other in sorted(others):
            lines.append(_arrow(places[name], places[other]))
    for name, (x, y) in sorted(places.items()):
        lines.append(f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#eef2fa" stroke="#557"/>')
        lines.append(f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT / 2 + 5}" text-anchor="middle">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _arrow(lower: tuple[float, float], upper: tuple[float, float]) -> str:
    """From the box that imports to the one that is imported: straight up, or around a corner that is above the outer of
    the two."""
    (x1, y1), (x2, y2) = lower, upper
    middle = MARGIN + MIDDLE * (WIDTH + GAP_X)
    half, waist = WIDTH / 2, HEIGHT / 2
    if x1 == x2:
        path = f"M{x1 + half},{y1} L{x2 + half},{y2 + HEIGHT}"
    elif x1 == middle:  # out of the side, then up
        side = x1 + (WIDTH if x2 > x1 else 0)
        path = f"M{side},{y1 + waist} Q{x2 + half},{y1 + waist} {x2 + half},{y2 + HEIGHT}"
    else:  # up, then into the side
        side = x2 + (WIDTH if x1 > x2 else 0)
        path = f"M{x1 + half},{y1} Q{x1 + half},{y2 + waist} {side},{y2 + waist}"
    return f'<path d="{path}" fill="none" stroke="#557" marker-end="url(#tip)"/>'


def main() -> None:
    PICTURE.write_text(picture(imports()), encoding="utf-8")
    print(f"written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
