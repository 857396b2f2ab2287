"""The fewest indexes, against all partitions of small sets of signatures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.plan.indexes import fewest_indexes

SIGNATURES = st.sets(st.frozensets(st.integers(0, 4), min_size=1), max_size=7)


def partitions(items: list[frozenset[int]]) -> Iterator[list[list[frozenset[int]]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for partition in partitions(rest):
        yield [[first], *partition]
        for place, part in enumerate(partition):
            yield [*partition[:place], [first, *part], *partition[place + 1 :]]


def is_chain(signatures: list[frozenset[int]]) -> bool:
    return all(a < b for a, b in pairwise(sorted(signatures, key=len)))


@settings(max_examples=300, deadline=None)
@given(SIGNATURES)
def test_no_smaller_set_of_indexes_serves_the_signatures(needed: set[frozenset[int]]) -> None:
    smallest = min((len(p) for p in partitions(list(needed)) if all(map(is_chain, p))), default=0)
    assert len(fewest_indexes("r", needed)) == smallest


@settings(max_examples=300, deadline=None)
@given(SIGNATURES)
def test_every_signature_is_a_prefix_of_the_one_index_that_serves_it(needed: set[frozenset[int]]) -> None:
    indexes = fewest_indexes("r", needed)
    served = [signature for index in indexes for signature in index.serves]
    assert sorted(served, key=sorted) == sorted(needed, key=sorted)
    for index in indexes:
        assert len(set(index.order)) == len(index.order)
        for signature in index.serves:
            assert set(index.order[: len(signature)]) == signature


def test_signatures_that_contain_each_other_share_an_index() -> None:
    a, ab, abc, d = frozenset({0}), frozenset({0, 1}), frozenset({0, 1, 2}), frozenset({3})
    found = [(i.order, i.serves) for i in fewest_indexes("r", [abc, a, d, ab])]
    assert found == [((0, 1, 2), (a, ab, abc)), ((3,), (d,))]


def test_a_greedy_choice_that_would_need_a_third_index_is_taken_back() -> None:
    """{0} fits before {0,1} and {0,2}; {1} only before {0,1}."""
    needed = [frozenset({0}), frozenset({1}), frozenset({0, 1}), frozenset({0, 2})]
    assert sorted(i.order for i in fewest_indexes("r", needed)) == [(0, 2), (1, 0)]
