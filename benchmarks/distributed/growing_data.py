"""Programs and facts that grow with the number of workers: so much for each of them, however many there are.

Everything is numbers, made from a seed. Most of what belongs together is made together, as in the data that these stand
for; some of it refers to what another worker's share has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

Facts = dict[str, np.ndarray]


@dataclass(frozen=True)
class Workload:
    program: str
    facts: Callable[[int, int], Facts]
    """The facts for so many workers, each with so many shares."""


CLOSURE = """
.decl edge(a: number, b: number)
.decl path(a: number, b: number)
.input edge
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""

GALEN = """
.decl p(x: number, z: number)
.decl q(x: number, r: number, z: number)
.decl c(y: number, w: number, z: number)
.decl r(y: number, u: number, e: number)
.decl s(r: number, q: number)
.decl u(w: number, r: number, z: number)
.input p
.input q
.input c
.input r
.input s
.input u
p(x, z) :- p(x, y), p(y, z).
p(x, z) :- p(y, w), u(w, r, z), q(x, r, y).
p(x, z) :- c(y, w, z), p(x, w), p(x, y).
q(x, r, z) :- p(x, y), q(y, r, z).
q(x, q, z) :- q(x, r, z), s(r, q).
q(x, e, o) :- q(x, y, z), r(y, u, e), q(z, u, o).
"""

BINARY = (
    "subOrganizationOf worksFor headOf memberOf teacherOf takesCourse advisor undergraduateDegreeFrom "
    "doctoralDegreeFrom degreeFrom hasAlumnus teachingAssistantOf member publicationAuthor"
)
CLASSES = (
    "FullProfessor AssociateProfessor Lecturer Professor Faculty Employee Person Student UndergraduateStudent "
    "GraduateStudent Course GraduateCourse Publication Department University Organization Chair TeachingAssistant"
)
GIVEN = (
    "subOrganizationOf worksFor headOf memberOf teacherOf takesCourse advisor undergraduateDegreeFrom "
    "doctoralDegreeFrom publicationAuthor teachingAssistantOf FullProfessor AssociateProfessor Lecturer "
    "UndergraduateStudent GraduateStudent Course GraduateCourse Publication Department University"
)
LUBM = "\n".join(
    [
        *(f".decl {name}(s: number, o: number)" for name in BINARY.split()),
        *(f".decl {name}(s: number)" for name in CLASSES.split()),
        *(f".input {name}" for name in GIVEN.split()),
        """
subOrganizationOf(x, z) :- subOrganizationOf(x, y), subOrganizationOf(y, z).
worksFor(x, y) :- headOf(x, y).
memberOf(x, y) :- worksFor(x, y).
member(y, x) :- memberOf(x, y).
degreeFrom(x, y) :- undergraduateDegreeFrom(x, y).
degreeFrom(x, y) :- doctoralDegreeFrom(x, y).
hasAlumnus(y, x) :- degreeFrom(x, y).
degreeFrom(x, y) :- hasAlumnus(y, x).
Person(x) :- degreeFrom(x, _).
University(y) :- degreeFrom(_, y).
Professor(x) :- FullProfessor(x).
Professor(x) :- AssociateProfessor(x).
Faculty(x) :- Professor(x).
Faculty(x) :- Lecturer(x).
Employee(x) :- Faculty(x).
Employee(x) :- worksFor(x, y), Organization(y), Person(x).
Person(x) :- Employee(x).
Person(x) :- Student(x).
Student(x) :- UndergraduateStudent(x).
Student(x) :- GraduateStudent(x).
Student(x) :- takesCourse(x, y), Course(y), Person(x).
Course(x) :- GraduateCourse(x).
Course(y) :- teacherOf(_, y).
Chair(x) :- headOf(x, y), Department(y), Person(x).
TeachingAssistant(x) :- teachingAssistantOf(x, y), Course(y), Person(x).
Organization(x) :- Department(x).
Organization(x) :- University(x).
Organization(y) :- subOrganizationOf(_, y).
Person(x) :- publicationAuthor(_, x).
Professor(y) :- advisor(_, y).
""",
    ]
)


def layers(workers: int, shares: int = 1, depth: int = 5, away: float = 0.05) -> Facts:
    """A graph in layers: from each node two edges to the next layer, a few of them into another share."""
    rng, width = np.random.default_rng(workers), 60 * shares
    share, layer, place = np.meshgrid(np.arange(workers), np.arange(depth - 1), np.arange(width), indexing="ij")
    source = ((share * depth + layer) * width + place).reshape(-1)
    edges = []
    for _ in range(2):
        elsewhere = rng.random(len(source)) < away
        target_share = np.where(elsewhere, rng.integers(0, workers, len(source)), share.reshape(-1))
        target = (target_share * depth + layer.reshape(-1) + 1) * width + rng.integers(0, width, len(source))
        edges.append(np.column_stack((source, target)))
    return {"edge": np.unique(np.concatenate(edges), axis=0)}


def ontologies(workers: int, shares: int = 1, roles: int = 8, away: float = 0.03) -> Facts:
    """Small ontologies in the shape of Galen's: a hierarchy, existential restrictions, conjunctions; a few concepts are
    below those of another one. All have the same roles."""
    workers *= shares
    rng, concepts = np.random.default_rng(workers), 60
    found: dict[str, list[np.ndarray]] = {name: [] for name in "pqcrsu"}
    base = 1000
    for share in range(workers):
        start = base + share * concepts
        own = np.arange(start, start + concepts)
        parents = start + (np.arange(concepts) // 3)
        far = rng.random(concepts) < away
        parents = np.where(far, base + rng.integers(0, workers, concepts) * concepts, parents)
        found["p"] += [np.column_stack((own, own)), np.column_stack((own[1:], parents[1:]))]
        some = rng.choice(own, concepts // 4)
        found["q"].append(np.column_stack((some, rng.integers(0, roles, len(some)), rng.choice(own, len(some)))))
        few = rng.choice(own, (concepts // 10, 3))
        found["c"].append(few)
        found["u"].append(np.column_stack((few[:, 0], rng.integers(0, roles, len(few)), few[:, 1])))
    found["s"].append(np.column_stack((np.arange(1, roles), np.arange(1, roles) // 2)))
    found["r"].append(np.array([[1, 2, 3], [4, 5, 6]]))
    return {name: np.unique(np.concatenate(parts), axis=0) for name, parts in found.items()}


def universities(workers: int, shares: int = 1) -> Facts:
    """A university for each worker, much smaller than LUBM's, with their kinds of things and links: degrees are from
    any university, everything else stays within a department."""
    rng = np.random.default_rng(workers)
    found: dict[str, list[tuple[int, ...]]] = {}
    counter = [0]

    def new(kind: str) -> int:
        counter[0] += 1
        found.setdefault(kind, []).append((counter[0],))
        return counter[0]

    def say(kind: str, *row: int) -> None:
        found.setdefault(kind, []).append(row)

    def some(things: list[int], most: int) -> Iterable[int]:
        return rng.choice(things, min(most, len(things)), replace=False).tolist()

    places = [new("University") for _ in range(workers)]
    for university in places:
        for _ in range(shares):
            department = new("Department")
            say("subOrganizationOf", department, university)
            teachers, courses, graduate = list[int](), list[int](), list[int]()
            for kind, count in (("FullProfessor", 3), ("AssociateProfessor", 4), ("Lecturer", 2)):
                for _ in range(count):
                    teacher = new(kind)
                    teachers.append(teacher)
                    say("worksFor", teacher, department)
                    say("undergraduateDegreeFrom", teacher, int(rng.choice(places)))
                    say("doctoralDegreeFrom", teacher, int(rng.choice(places)))
                    for level, listed in (("Course", courses), ("GraduateCourse", graduate)):
                        course = new(level)
                        listed.append(course)
                        say("teacherOf", teacher, course)
                    for _ in range(3):
                        say("publicationAuthor", new("Publication"), teacher)
            say("headOf", teachers[0], department)
            for _ in range(30):
                student = new("UndergraduateStudent")
                say("memberOf", student, department)
                for course in some(courses, 3):
                    say("takesCourse", student, course)
            for _ in range(10):
                student = new("GraduateStudent")
                say("memberOf", student, department)
                say("advisor", student, int(rng.choice(teachers[:7])))
                say("undergraduateDegreeFrom", student, int(rng.choice(places)))
                for course in some(graduate, 2):
                    say("takesCourse", student, course)
                say("teachingAssistantOf", student, int(rng.choice(courses)))
    return {name: np.unique(np.array(rows, np.int64), axis=0) for name, rows in found.items()}


WORKLOADS = {
    "closure": Workload(CLOSURE, layers),
    "galen": Workload(GALEN, ontologies),
    "lubm": Workload(LUBM, universities),
}
