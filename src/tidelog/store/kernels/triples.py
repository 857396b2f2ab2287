"""Lines of N-Triples and N-Quads that are plainly canonical, split into terms.

A line is plain if it is canonical N-Triples beyond doubt: one space between terms, IRIs of ASCII letters, digits and
harmless punctuation with a scheme and no port, literals with the short escapes only, language tags in small letters,
blank nodes of letters and digits. Its terms are then symbols as they stand. Every other line is listed as odd and left
to a parser of the whole grammar.

What is always true: of a plain line, text[begin:end] of each of its terms is the term's canonical text; the text ends
with a line end, which no term contains, so that nothing is read behind it. Cost: a pass over the bytes of objects; a
subject that is the same as in the line before is compared eight bytes at a time, and so is a predicate met lately.
"""

from __future__ import annotations

from tidelog.store.blocks import Halves, LinesBlock
from tidelog.store.codes import (
    GOLDEN,
    IN_ESCAPE,
    IN_HOST,
    IN_LABEL,
    IN_PATH,
    IN_SCHEME,
    IN_TEXT,
    IS_LETTER,
    IS_SMALL,
    NO_TERM,
    RECENT_TERMS,
)
from tidelog.store.kernels.raw import inlined, kernel, ld8, lshr
from tidelog.store.kernels.texts import load, same_text

SPACE, LINE_END, RETURN, QUOTE, DOT, HASH, SLASH, COLON = 32, 10, 13, 34, 46, 35, 47, 58
LESS, GREATER, QUESTION, AT, BACKSLASH, CARET, UNDERSCORE, DASH = 60, 62, 63, 64, 92, 94, 95, 45


@inlined
def behind(at: int, classes: int, kind: int) -> int:
    """Behind the characters of a class."""
    while ld8(classes + ld8(at)) & kind:
        at += 1
    return at


@kernel
def behind_iri(at: int, classes: int) -> int:
    """Behind `<…>` at `at`, 0 if that is not plain."""
    if ld8(at) != LESS or not (ld8(classes + ld8(at + 1)) & IS_LETTER):
        return 0
    at = behind(at + 2, classes, IN_SCHEME)
    if ld8(at) != COLON:
        return 0
    at += 1
    if ld8(at) == SLASH and ld8(at + 1) == SLASH:
        at = behind(at + 2, classes, IN_HOST)
        if ld8(at) == COLON:
            return 0
    at = behind(at, classes, IN_PATH)
    if ld8(at) == HASH:
        at = behind(at + 1, classes, IN_PATH)
    if ld8(at) != GREATER:
        return 0
    return at + 1


@kernel
def behind_blank(at: int, classes: int) -> int:
    """Behind `_:…` at `at`, 0 if that is not plain."""
    if ld8(at) != UNDERSCORE or ld8(at + 1) != COLON:
        return 0
    end = behind(at + 2, classes, IN_LABEL)
    if end == at + 2:
        return 0
    return end


@kernel
def behind_language(at: int, classes: int) -> int:
    """Behind `@en` or `@en-gb` at `at`, 0 if the tag is another."""
    end = behind(at + 1, classes, IS_SMALL)
    if end - at < 3 or end - at > 4:
        return 0
    if ld8(end) == DASH:
        region = end + 1
        end = behind(region, classes, IS_SMALL)
        if end - region != 2:
            return 0
    return end


@inlined
def is_string_type(at: int) -> bool:
    """Whether an IRI is xsd:string, which a canonical literal leaves out: `ng>` is behind `XMLSchema#stri`."""
    return load(at - 8) == 0x3E676E6972747323  # "#string>"


@kernel
def behind_literal(at: int, classes: int) -> int:
    """Behind the literal at `at`, 0 if it is not plain."""
    at = behind(at + 1, classes, IN_TEXT)
    while ld8(at) == BACKSLASH:
        if not (ld8(classes + ld8(at + 1)) & IN_ESCAPE):
            return 0
        at = behind(at + 2, classes, IN_TEXT)
    if ld8(at) != QUOTE:
        return 0
    at += 1
    if ld8(at) == CARET and ld8(at + 1) == CARET:
        at = behind_iri(at + 2, classes)
        if at != 0 and is_string_type(at):
            return 0
    elif ld8(at) == AT:
        at = behind_language(at, classes)
    return at


@inlined
def new_term(b: LinesBlock, begin: int, end: int) -> int:
    """The number of a term that has not been compared with others."""
    number, text = b.nterm, b.text
    place = b.terms[number]
    place.begin, place.end = begin - text, end - text
    b.nterm = number + 1
    return number


@inlined
def recent_term(b: LinesBlock, begin: int, end: int) -> int:
    """The number of a term that was perhaps met lately, such as a predicate; it has ten characters or more."""
    length = end - begin
    h = (load(end - 9) ^ length) * GOLDEN
    known = b.recent[lshr(h, 56) % RECENT_TERMS]
    if known.length == length and same_text(known.begin, begin, length):
        return known.number
    known.begin, known.length, known.number = begin, length, new_term(b, begin, end)
    return known.number


@inlined
def is_end(at: int) -> bool:
    """Whether ` .` and a line end are here."""
    if ld8(at) != SPACE or ld8(at + 1) != DOT:
        return False
    return ld8(at + 2) == LINE_END or (ld8(at + 2) == RETURN and ld8(at + 3) == LINE_END)


@inlined
def subject_of(b: LinesBlock, at: int, stop: int, classes: int) -> int:
    """Notes the subject at `at` as that of the running line; behind it and its space, 0 if it is not plain."""
    length = b.subject_length
    if length and at + length <= stop and same_text(b.subject, at, length):
        return at + length
    end = behind_blank(at, classes) if ld8(at) == UNDERSCORE else behind_iri(at, classes)
    if end == 0 or ld8(end) != SPACE:
        return 0
    b.subject = at
    b.subject_length = end + 1 - at
    b.subject_term = NO_TERM
    return end + 1


@inlined
def behind_term(at: int, classes: int) -> int:
    first = ld8(at)
    if first == LESS:
        return behind_iri(at, classes)
    if first == QUOTE:
        return behind_literal(at, classes)
    return behind_blank(at, classes)


@kernel
def split_line(b: LinesBlock, at: int, stop: int, classes: int, codes: Halves, graphs: int) -> int:
    """Behind the line at `at`, whose terms are then at `codes`; 0 if it is not plain, and then no term is new."""
    predicate = subject_of(b, at, stop, classes)
    if predicate == 0:
        return 0
    end = behind_iri(predicate, classes)
    if end == 0 or end - predicate < 10 or ld8(end) != SPACE:
        return 0
    obj = end + 1
    obj_end = behind_term(obj, classes)
    if obj_end == 0:
        return 0
    graph, last = 0, obj_end
    if graphs and ld8(obj_end) == SPACE and ld8(obj_end + 1) != DOT:
        graph = obj_end + 1
        last = behind_blank(graph, classes) if ld8(graph) == UNDERSCORE else behind_iri(graph, classes)
        if last == 0:
            return 0
    if not is_end(last):
        return 0
    if b.subject_term == NO_TERM:
        begin = b.subject
        b.subject_term = new_term(b, begin, begin + b.subject_length - 1)
    codes[0] = b.subject_term
    codes[1] = recent_term(b, predicate, end)
    codes[2] = recent_term(b, obj, obj_end) if obj_end - obj > 9 else new_term(b, obj, obj_end)
    if graphs:
        number = NO_TERM
        if graph:
            number = recent_term(b, graph, last) if last - graph > 9 else new_term(b, graph, last)
        codes[3] = number
    return last + 3 + (ld8(last + 2) == RETURN)


@kernel
def split_lines(b: LinesBlock) -> int:
    """Split all lines; how many were plain."""
    text, classes, graphs = b.text, b.classes, b.graphs
    at, stop, plain = text + b.at, text + b.length, 0
    width = 4 if graphs else 3
    codes, odd = b.codes, b.odd
    while at < stop:
        end = split_line(b, at, stop, classes, codes + plain * width, graphs)
        if end:
            plain += 1
        else:
            end = at
            while ld8(end) != LINE_END:
                end += 1
            end += 1
            place = odd[b.nodd]
            place.begin, place.end = at - text, end - text
            b.nodd += 1
        at = end
    b.nline = plain
    return plain
