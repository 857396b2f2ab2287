"""Which relations depend on themselves: strongly connected components of a graph, without recursion in Python."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def component_numbers(graph: Mapping[str, Collection[str]]) -> dict[str, int]:
    """For each node the number of its strongly connected component (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    number: dict[str, int] = {}
    open_nodes: list[str] = []
    for root in graph:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_nodes.append(root)
        path: list[tuple[str, Iterator[str]]] = [(root, iter(graph[root]))]
        while path:
            node, successors = path[-1]
            for successor in successors:
                if successor not in order:
                    order[successor] = low[successor] = len(order)
                    open_nodes.append(successor)
                    path.append((successor, iter(graph.get(successor, ()))))
                    break
                if successor not in number:
                    low[node] = min(low[node], order[successor])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    label = len(number)
                    while True:
                        member = open_nodes.pop()
                        number[member] = label
                        if member == node:
                            break
    return number
