"""Universities of the LUBM profile as N-Triples.

python -m benchmarks.lubm.generate 10 lubm-10.nt [--seed 0] [--processes 2]

The numbers of things are those that Guo, Pan and Heflin publish for their generator UBA (LUBM: A benchmark for OWL
knowledge base systems, 2005); names are as in UBA, so that the queries run unchanged. A university depends on
the seed and its number alone: any of them can be made alone, in any process. Cost: memory of a university per process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

ONTOLOGY = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"

UNIVERSITIES = 1000
"""Degrees are from one of so many universities, most of which have nothing but a name."""
RESEARCH_INTERESTS = 30


class Between(NamedTuple):
    """A number of things, each as probable as the others."""

    least: int
    most: int

    def draw(self, chance: random.Random) -> int:
        return chance.randint(*self)


class Rank(NamedTuple):
    """A rank of teachers: how many a department has, and how much each publishes."""

    name: str
    in_department: Between
    publications: Between
    is_professor: bool = True


DEPARTMENTS = Between(15, 25)
RANKS = (
    Rank("FullProfessor", Between(7, 10), Between(15, 20)),
    Rank("AssociateProfessor", Between(10, 14), Between(10, 18)),
    Rank("AssistantProfessor", Between(8, 11), Between(5, 10)),
    Rank("Lecturer", Between(5, 7), Between(0, 5), is_professor=False),
)
COURSES_OF_TEACHER = Between(1, 2)  # and as many for graduates
UNDERGRADUATES_PER_TEACHER = Between(8, 14)
GRADUATES_PER_TEACHER = Between(3, 4)
COURSES_OF_UNDERGRADUATE = Between(2, 4)
COURSES_OF_GRADUATE = Between(1, 3)
UNDERGRADUATES_PER_ADVISED = 5
GRADUATES_PER_TEACHING_ASSISTANT = Between(4, 5)
GRADUATES_PER_RESEARCH_ASSISTANT = Between(3, 4)
PUBLICATIONS_OF_GRADUATE = Between(0, 5)
RESEARCH_GROUPS = Between(10, 20)


class Teacher(NamedTuple):
    """One of a department's faculty."""

    name: str
    rank: Rank
    publications: int


class Department:
    """The triples of one department, as lines."""

    def __init__(self, number: int, university: int, chance: random.Random) -> None:
        self.chance = chance
        self.host = f"Department{number}.University{university}.edu"
        self.iri = f"<http://www.{self.host}>"
        self.name = f"Department{number}"
        self.university = f"<http://www.University{university}.edu>"
        self.lines: list[str] = []
        self.courses = self.graduate_courses = 0
        self.teachers = [
            Teacher(f"{rank.name}{i}", rank, rank.publications.draw(chance))
            for rank in RANKS
            for i in range(rank.in_department.draw(chance))
        ]
        self.undergraduates = self._per_teacher(UNDERGRADUATES_PER_TEACHER)
        self.graduates = self._per_teacher(GRADUATES_PER_TEACHER)

    def _per_teacher(self, ratio: Between) -> int:
        return len(self.teachers) * ratio.draw(self.chance)

    def text(self) -> str:
        """All lines, in the order of UBA's files."""
        self._add(self.iri, TYPE, _of("Department"))
        self._add(self.iri, _of("name"), f'"{self.name}"')
        self._add(self.iri, _of("subOrganizationOf"), self.university)
        self._add(self.university, TYPE, _of("University"))
        head = self.chance.randrange(sum(t.rank is RANKS[0] for t in self.teachers))
        for number, teacher in enumerate(self.teachers):
            self._teacher(teacher, is_head=number == head)
        for number in range(self.undergraduates):
            self._undergraduate(number)
        for number in range(self.graduates):
            self._graduate(number)
        for number in range(RESEARCH_GROUPS.draw(self.chance)):
            self._thing(f"ResearchGroup{number}", "ResearchGroup")
            self._add(self._iri(f"ResearchGroup{number}"), _of("subOrganizationOf"), self.iri)
        self._publications()
        self._courses()
        self._assistants()
        return "".join(self.lines)

    def _iri(self, name: str) -> str:
        return f"<http://www.{self.host}/{name}>"

    def _add(self, subject: str, predicate: str, obj: str) -> None:
        self.lines.append(f"{subject} {predicate} {obj} .\n")

    def _thing(self, name: str, kind: str) -> None:
        self._add(self._iri(name), TYPE, _of(kind))

    def _degree(self, subject: str, degree: str) -> None:
        university = f"<http://www.University{self.chance.randrange(UNIVERSITIES)}.edu>"
        self._add(subject, _of(degree), university)
        self._add(university, TYPE, _of("University"))

    def _contact(self, subject: str, name: str) -> None:
        self._add(subject, EMAIL, f'"{name}@{self.host}"')
        self._add(subject, TELEPHONE, '"xxx-xxx-xxxx"')

    def _teacher(self, teacher: Teacher, is_head: bool) -> None:
        subject = self._iri(teacher.name)
        self._thing(teacher.name, teacher.rank.name)
        self._add(subject, NAME, f'"{teacher.name}"')
        for _ in range(COURSES_OF_TEACHER.draw(self.chance)):
            self._add(subject, TEACHER_OF, self._iri(f"Course{self.courses}"))
            self.courses += 1
        for _ in range(COURSES_OF_TEACHER.draw(self.chance)):
            self._add(subject, TEACHER_OF, self._iri(f"GraduateCourse{self.graduate_courses}"))
            self.graduate_courses += 1
        for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            self._degree(subject, degree)
        self._add(subject, _of("worksFor"), self.iri)
        self._contact(subject, teacher.name)
        if teacher.rank.is_professor:
            self._add(subject, _of("researchInterest"), f'"Research{self.chance.randrange(RESEARCH_INTERESTS)}"')
        if is_head:
            self._add(subject, _of("headOf"), self.iri)

    def _student(self, name: str, kind: str, courses: list[str]) -> str:
        subject = self._iri(name)
        self._thing(name, kind)
        self._add(subject, NAME, f'"{name}"')
        self._add(subject, MEMBER_OF, self.iri)
        self._contact(subject, name)
        for course in courses:
            self._add(subject, TAKES_COURSE, self._iri(course))
        return subject

    def _some(self, kind: str, of: int, how_many: int) -> list[str]:
        """Names of so many different things of a kind."""
        return [f"{kind}{number}" for number in self.chance.sample(range(of), how_many)]

    def _advisor(self, student: str) -> None:
        professors = sum(teacher.rank.is_professor for teacher in self.teachers)  # they come before the others
        self._add(student, ADVISOR, self._iri(self.teachers[self.chance.randrange(professors)].name))

    def _undergraduate(self, number: int) -> None:
        courses = self._some("Course", self.courses, COURSES_OF_UNDERGRADUATE.draw(self.chance))
        student = self._student(f"UndergraduateStudent{number}", "UndergraduateStudent", courses)
        if self.chance.randrange(UNDERGRADUATES_PER_ADVISED) == 0:
            self._advisor(student)

    def _graduate(self, number: int) -> None:
        courses = self._some("GraduateCourse", self.graduate_courses, COURSES_OF_GRADUATE.draw(self.chance))
        student = self._student(f"GraduateStudent{number}", "GraduateStudent", courses)
        self._degree(student, "undergraduateDegreeFrom")
        self._advisor(student)

    def _publications(self) -> None:
        """Each is its first author's; graduates are added as authors of some."""
        written = [(teacher, i) for teacher in self.teachers for i in range(teacher.publications)]
        students: dict[int, list[int]] = {}
        for graduate in range(self.graduates):
            for which in self.chance.sample(range(len(written)), PUBLICATIONS_OF_GRADUATE.draw(self.chance)):
                students.setdefault(which, []).append(graduate)
        for which, (teacher, number) in enumerate(written):
            publication = f"{teacher.name}/Publication{number}"
            subject = self._iri(publication)
            self._thing(publication, "Publication")
            self._add(subject, NAME, f'"Publication{number}"')
            self._add(subject, AUTHOR, self._iri(teacher.name))
            for graduate in students.get(which, ()):
                self._add(subject, AUTHOR, self._iri(f"GraduateStudent{graduate}"))

    def _courses(self) -> None:
        for kind, how_many in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            for number in range(how_many):
                self._thing(f"{kind}{number}", kind)
                self._add(self._iri(f"{kind}{number}"), NAME, f'"{kind}{number}"')

    def _assistants(self) -> None:
        """A course has at most one teaching assistant."""
        teaching = min(self.graduates // GRADUATES_PER_TEACHING_ASSISTANT.draw(self.chance), self.courses)
        courses = self._some("Course", self.courses, teaching)
        for student, course in zip(self._some("GraduateStudent", self.graduates, teaching), courses, strict=True):
            self._thing(student, "TeachingAssistant")
            self._add(self._iri(student), _of("teachingAssistantOf"), self._iri(course))
        research = self.graduates // GRADUATES_PER_RESEARCH_ASSISTANT.draw(self.chance)
        for student in self._some("GraduateStudent", self.graduates, research):
            self._thing(student, "ResearchAssistant")


def _of(name: str) -> str:
    return f"<{ONTOLOGY}{name}>"


NAME, EMAIL, TELEPHONE, MEMBER_OF, TAKES_COURSE, TEACHER_OF, ADVISOR, AUTHOR = map(
    _of,
    ("name", "emailAddress", "telephone", "memberOf", "takesCourse", "teacherOf", "advisor", "publicationAuthor"),
)


def university(number: int, seed: int = 0) -> bytes:
    """The triples of a university and its departments."""
    chance = random.Random(f"{seed} {number}")
    iri = f"<http://www.University{number}.edu>"
    parts = [f'{iri} {TYPE} {_of("University")} .\n{iri} {_of("name")} "University{number}" .\n']
    parts += (Department(i, number, chance).text() for i in range(DEPARTMENTS.draw(chance)))
    return "".join(parts).encode()


def universities(how_many: int, seed: int = 0, processes: int = 1) -> Iterator[bytes]:
    """The triples of each university, in order, whatever the number of processes."""
    wanted = [(number, seed) for number in range(how_many)]
    if processes == 1:
        yield from (university(*one) for one in wanted)
        return
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap(_university, wanted)


def _university(of: tuple[int, int]) -> bytes:
    return university(*of)


def write(stream: BinaryIO, how_many: int, seed: int = 0, processes: int = 1) -> int:
    """Write the universities; how many triples they are."""
    triples = 0
    for text in universities(how_many, seed, processes):
        stream.write(text)
        triples += text.count(b"\n")
    return triples


def main() -> None:
    options = argparse.ArgumentParser(description="Universities of the LUBM profile as N-Triples.")
    options.add_argument("universities", type=int)
    options.add_argument("file", help="where to; - is standard output")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    given = options.parse_args()
    if given.file == "-":
        triples = write(sys.stdout.buffer, given.universities, given.seed, given.processes)
    else:
        with open(given.file, "wb") as stream:
            triples = write(stream, given.universities, given.seed, given.processes)
    print(f"{triples:,} triples", file=sys.stderr)


if __name__ == "__main__":
    main()
