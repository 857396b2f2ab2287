"""Universities of our own have the published profile, and the numbers of the reference data."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from benchmarks.lubm.generate import universities, university

pytest.importorskip("pyoxigraph")

PER_DEPARTMENT = {
    "FullProfessor": (7, 10), "AssociateProfessor": (10, 14), "AssistantProfessor": (8, 11), "Lecturer": (5, 7),
    "ResearchGroup": (10, 20),
}  # fmt: skip
OF_REFERENCE = {
    "advisor": 207.7, "name": 1077.3, "publicationAuthor": 724.2, "takesCourse": 1453.4, "teacherOf": 108.3,
    "teachingAssistantOf": 28.0, "undergraduateDegreeFrom": 163.3, "worksFor": 36.2, "memberOf": 526.8,
}  # fmt: skip
"""Triples per department and predicate in the ten universities of UBA with seed 0."""


@pytest.fixture(scope="module")
def text() -> str:
    return b"".join(universities(4)).decode()


def test_every_department_has_the_published_numbers_of_teachers_and_groups(text: str) -> None:
    kinds = re.findall(r"www\.(Department\d+\.University\d+)\.edu/\S+> \S+#type> \S+#(\w+)>", text)
    counts = Counter(kinds)
    departments = {department for department, _ in kinds}
    assert 4 * 15 <= len(departments) <= 4 * 25
    for kind, (least, most) in PER_DEPARTMENT.items():
        found = {counts[department, kind] for department in departments}
        assert least <= min(found) <= max(found) <= most


def test_the_number_of_triples_per_predicate_is_that_of_uba(text: str) -> None:
    departments = len(re.findall(r"#type> \S+#Department>", text))
    predicates = Counter(re.findall(r"univ-bench\.owl#(\w+)> [<\"]", text))
    for predicate, expected in OF_REFERENCE.items():
        assert predicates[predicate] / departments == pytest.approx(expected, rel=0.06), predicate


def test_a_course_is_taught_once_and_has_at_most_one_assistant(text: str) -> None:
    for predicate in ("teacherOf", "teachingAssistantOf"):
        assert max(Counter(re.findall(rf"#{predicate}> (\S+)", text)).values()) == 1


def test_a_university_depends_on_the_seed_and_its_number_alone() -> None:
    alone = university(1, seed=7)
    assert alone == list(universities(2, seed=7, processes=2))[1]
    assert alone != university(1, seed=8)
