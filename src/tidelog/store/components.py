"""The connected components of a graph, given as pairs: batch union-find.

Every element has a label, at first its own place. In a round, the root of the greater label of each pair whose labels
differ is hung below the smaller one, then all labels are shortened to their roots. What is always true: a root is the
smallest place of its tree, so hanging never makes a circle. Cost: a few vectorised passes per round; each round joins
every component that is not finished to another one, a chain of 100,000 shuffled pairs takes about ten.
"""

from __future__ import annotations

import numpy as np

from tidelog.store.distinct import distinct
from tidelog.store.memory import Array


def components(pairs: Array) -> tuple[Array, Array]:
    """The distinct elements in ascending order, and for each the number of its component, from 0."""
    elements, places = distinct(pairs.reshape(-1))
    left, right = places.reshape(-1, 2).T
    roots = np.arange(len(elements))
    while len(left):
        a, b = roots[left], roots[right]
        apart = a != b
        left, right, a, b = left[apart], right[apart], a[apart], b[apart]
        np.minimum.at(roots, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(above := roots[roots], roots):
            roots = above
    return elements, distinct(roots)[1]
