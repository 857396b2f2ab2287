"""Expressions of SPARQL: what each function and operator gives, as SPARQL and XPath say."""

from __future__ import annotations

import pytest
from naive_triples import NaiveTriples

from tidelog.rdf.sparql.answers import SolutionRows, ask
from tidelog.rdf.sparql.terms import RdfTerm, literal, parse_term

pytest.importorskip("rdflib")

XSD = "http://www.w3.org/2001/XMLSchema#"
AT = '"2020-03-04T05:06:07.5+02:00"^^xsd:dateTime'

CASES = {
    # numbers are promoted, and written canonically
    "1 + 2": "3^^integer", "1 + 1.5": "2.5^^decimal", "1 + 1e0": "2.0E0^^double", "1.5 * 2": "3^^decimal",
    '"1.5"^^xsd:float + 1': "2.5E0^^float", '"7"^^xsd:byte + 1': "8^^integer", "1 / 2": "0.5^^decimal",
    "4 / 2": "2^^decimal", "1 / 3": "0.333333333333333333^^decimal", "1 / 0": None, "1e0 / 0": "INF^^double",
    "-1e0 / 0": "-INF^^double", "0e0 / 0": "NaN^^double", "-(2)": "-2^^integer", "+(2)": "2^^integer",
    '-("2")': None, '1 + "1"': None, "true + 1": None, "99999999999999999999 + 1": "100000000000000000000^^integer",
    # equality
    "1 = 1.0": "true", "1 = 1e0": "true", '"a" = "a"': "true", '"a" = "b"': "false", '"a" = "a"@en': "false",
    '"a"@en = "a"@EN': "true", '"a"@en = "a"@fr': "false", "<x:a> = <x:a>": "true", "<x:a> = <x:b>": "false",
    '<x:a> = "a"': "false", '"1"^^<x:t> = "2"^^<x:t>': None, '"1"^^<x:t> = "1"^^<x:t>': "true", '"1"^^<x:t> != 1': None,
    '"x"^^xsd:integer = 1': None, "true = true": "true", '"1"^^xsd:boolean = true': "true", '1 = "1"': "false",
    '"2020-01-01T00:00:00Z"^^xsd:dateTime = "2020-01-01T01:00:00+01:00"^^xsd:dateTime': "true",
    '"NaN"^^xsd:double = "NaN"^^xsd:double': "false", "01 = 1": "true",
    # order
    "1 < 2.5": "true", '"a" < "b"': "true", "2 >= 2.0": "true", "false < true": "true", "1 < <x:a>": None,
    '1 < "2"': None,
    '"a"@en < "b"@en': "true", '"NaN"^^xsd:double < 1': "false",
    '"2020-01-01T00:00:00Z"^^xsd:dateTime < "2020-01-02T00:00:00Z"^^xsd:dateTime': "true",
    '"2020-01-01T00:00:00"^^xsd:dateTime < "2020-01-01T01:00:00Z"^^xsd:dateTime': None,
    '"2020-01-01T00:00:00"^^xsd:dateTime < "2020-01-03T00:00:00Z"^^xsd:dateTime': "true",
    '"2019-12-31"^^xsd:date < "2020-01-01"^^xsd:date': "true",
    # three values
    "true || 1/0": "true", "1/0 || true": "true", "false || 1/0": None, "false && 1/0": "false",
    "1/0 && false": "false",
    "true && 1/0": None, "!(1/0)": None, "!true": "false", '!""': "true", "!0": "true", '!"NaN"^^xsd:double': "true",
    '!"x"^^xsd:integer': "true", '!"x"^^xsd:boolean': "true", "!<x:a>": None, '!"a"@en': None,
    "1 IN (2, 1/0, 1)": "true", "1 IN (2, 1/0)": None, "1 NOT IN (2, 3)": "true", "1 IN ()": "false",
    "1 NOT IN ()": "true",
    "IF(1 > 0, 1, 1/0)": "1^^integer", "IF(1/0, 1, 2)": None, "COALESCE(1/0, ?none, 3)": "3^^integer",
    "COALESCE(1/0)": None,
    "BOUND(?none)": "false", "?none + 1": None,
    # terms
    "STR(<x:a>)": '"x:a"', "STR(01)": '"01"', "STR(BNODE())": None, 'LANG("a"@en)': '"en"', 'LANG("a")': '""',
    "LANG(<x:a>)": None, "DATATYPE(1)": f"<{XSD}integer>", 'DATATYPE("a")': f"<{XSD}string>",
    'DATATYPE("a"@en)': "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>", "DATATYPE(<x:a>)": None,
    'IRI("x:a")': "<x:a>", 'IRI("a b")': None, 'IRI("rel")': None, "IRI(1)": None, "isIRI(<x:a>)": "true",
    "isURI(1)": "false",
    "isBLANK(BNODE())": "true", 'isLITERAL("a")': "true", "isNUMERIC(1)": "true", 'isNUMERIC("1")': "false",
    'isNUMERIC("x"^^xsd:integer)': "false", 'isNUMERIC("300"^^xsd:byte)': "false", "sameTerm(1, 1.0)": "false",
    "sameTerm(1, 1)": "true", 'STRDT("1", xsd:integer)': "1^^integer", 'STRDT("1"@en, xsd:integer)': None,
    'STRLANG("a", "EN")': '"a"@en', "STRLANG(1, 'en')": None, 'langMatches("en-GB", "en")': "true",
    'langMatches("en", "*")': "true", 'langMatches("", "*")': "false", 'langMatches("eng", "en")': "false",
    # numbers
    "ABS(-1.5)": "1.5^^decimal", "ROUND(2.5)": "3^^decimal", "ROUND(-2.5)": "-2^^decimal", "CEIL(2.1)": "3^^decimal",
    "FLOOR(-0.5e0)": "-1.0E0^^double", "ROUND(2)": "2^^integer", 'ABS("1")': None,
    # texts
    'CONCAT("a", "b")': '"ab"', 'CONCAT("a"@en, "b"@en)': '"ab"@en', 'CONCAT("a"@en, "b")': '"ab"',
    "CONCAT('a', 1)": None,
    "CONCAT()": '""', 'STRLEN("a😀")': "2^^integer", 'UCASE("aé"@en)': '"AÉ"@en', 'LCASE("AB")': '"ab"',
    "UCASE(1)": None,
    'ENCODE_FOR_URI("a b/é")': '"a%20b%2F%C3%A9"', 'CONTAINS("abc", "b")': "true", 'CONTAINS("abc"@en, "b")': "true",
    'CONTAINS("abc"@en, "b"@fr)': None, 'CONTAINS("abc", "b"@en)': None, 'STRSTARTS("abc", "ab")': "true",
    'STRENDS("abc", "ab")': "false", 'STRBEFORE("abc"@en, "b")': '"a"@en', 'STRBEFORE("abc"@en, "x")': '""',
    'STRBEFORE("abc"@en, "")': '""@en', 'STRAFTER("abc", "b")': '"c"', 'STRAFTER("abc"@en, "")': '"abc"@en',
    'SUBSTR("abcdef", 2, 3)': '"bcd"', 'SUBSTR("abc", 0, 2)': '"a"', 'SUBSTR("abc"@en, 2)': '"bc"@en',
    'SUBSTR("abc", 1.5, 1)': '"b"', 'SUBSTR("abc", 9)': '""', 'REGEX("abc", "B", "i")': "true",
    'REGEX("abc", "^b")': "false",
    'REGEX("a.c", "a.c", "q")': "true", 'REGEX("abc", "a.c", "q")': "false", 'REGEX("abc", "a b c", "x")': "true",
    'REGEX("abc", "(")': None, 'REGEX("abc", "a", "z")': None, "REGEX(1, '1')": None,
    'REPLACE("abcb", "b", "x")': '"axcx"',
    'REPLACE("abc"@en, "(b)", "[$1]")': '"a[b]c"@en', 'REPLACE("a.c", ".", "$", "q")': '"a$c"',
    r'REPLACE("abc", "b", "\\$1")': '"a$1c"', 'MD5("abc")': '"900150983cd24fb0d6963f7d28e17f72"',
    'SHA1("abc")': '"a9993e364706816aba3e25717850c26c9cd0d89d"', "SHA256(1)": None,
    # times
    f"YEAR({AT})": "2020^^integer", f"MONTH({AT})": "3^^integer", f"DAY({AT})": "4^^integer",
    f"HOURS({AT})": "5^^integer",
    f"MINUTES({AT})": "6^^integer", f"SECONDS({AT})": "7.5^^decimal", f"TZ({AT})": '"+02:00"',
    f"TIMEZONE({AT})": "PT2H^^dayTimeDuration", 'TZ("2020-03-04T05:06:07"^^xsd:dateTime)': '""',
    'TIMEZONE("2020-03-04T05:06:07"^^xsd:dateTime)': None,
    'TIMEZONE("2020-03-04T05:06:07Z"^^xsd:dateTime)': "PT0S^^dayTimeDuration",
    'YEAR("2020-02-30T05:06:07"^^xsd:dateTime)': None, 'YEAR("x")': None, 'HOURS("2020-02-03"^^xsd:date)': None,
    # casts
    "xsd:integer(1.7)": "1^^integer", 'xsd:integer("1.7")': None, 'xsd:integer("12")': "12^^integer",
    "xsd:integer(true)": "1^^integer", 'xsd:double("1")': "1.0E0^^double", "xsd:decimal(1.5e0)": "1.5^^decimal",
    'xsd:decimal("INF"^^xsd:double)': None, "xsd:string(1.0)": '"1"',
    "xsd:string(1.25e0)": '"1.25"', "xsd:string(1e9)": '"1.0E9"', "xsd:string(0e0)": '"0"',
    'xsd:string("0"^^xsd:boolean)': '"false"',  "xsd:string(<x:a>)": '"x:a"',
    'xsd:boolean("1")': "true", "xsd:boolean(2)": "true", 'xsd:boolean("x")': None, "xsd:float(1)": "1.0E0^^float",
    'xsd:dateTime("2020-03-04T05:06:07Z")': "2020-03-04T05:06:07Z^^dateTime", 'xsd:dateTime("x")': None,
    f"xsd:date({AT})": "2020-03-04+02:00^^date", "xsd:integer(<x:a>)": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, RdfTerm | None]:
    """All expressions computed by few queries: a query's text costs more than its answer."""
    nothing, expressions = NaiveTriples([]), list(CASES)
    values: dict[str, RdfTerm | None] = {}
    for first in range(0, len(expressions), 30):
        some = expressions[first : first + 30]
        made = " ".join(f"(({text}) AS ?v{i})" for i, text in enumerate(some))
        rows = ask(f"PREFIX xsd: <{XSD}> SELECT {made} {{}}", nothing)
        assert isinstance(rows, SolutionRows)
        values.update(zip(some, next(iter(rows.terms())), strict=True))
    return values


def full(short: str) -> str:
    """`1^^integer` and `true` as canonical texts."""
    if short in ("true", "false"):
        short += "^^boolean"
    lexical, mark, datatype = short.partition("^^")
    return f'"{lexical}"^^<{XSD}{datatype}>' if mark else short


@pytest.mark.parametrize("expression", CASES)
def test_an_expression_gives(expression: str, found: dict[str, RdfTerm | None]) -> None:
    expected, term = CASES[expression], found[expression]
    assert (term and term.text) == (expected and full(expected))


TEXTS = [
    '"a\\"b\\\\c\\n\\t\\r\\b\\f"', '"\\u0000\\u001B\\u007F"', '"é😀"@en-gb', '"x"^^<http://a/t>',
    "<http://a/é>", "_:b1", '"say \\"hi\\"@en"', '"C:\\\\\\\\"',
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_term_taken_apart_and_put_together_is_the_same(text: str) -> None:
    term = parse_term(text)
    assert RdfTerm(term.kind, term.lexical, term.datatype, term.language).text == text


def test_terms_are_written_as_pyoxigraph_writes_them() -> None:
    ox = pytest.importorskip("pyoxigraph")
    for code in [*range(0x300), 0x2028, 0xFFFD, 0xFFFE, 0xFFFF, 0x1F600]:
        character = chr(code)
        assert literal(character).text == str(ox.Literal(character))
        assert parse_term(str(ox.Literal(character))).lexical == character
