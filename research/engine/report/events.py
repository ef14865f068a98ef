"""Events that a sentence tells: its dated clauses, in as few words as are a sentence of their own.

A sentence with several dates is split only in English, and only where each part has a date, a verb
and a subject of its own and reports nothing that somebody says. Otherwise it is one event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from research.engine.report.draft import Statement
from research.engine.report.parts.subjects import leans_back
from research.engine.text.dates import Date, FoundDate, find_dates, is_within, without_dates
from research.engine.text.language import ENGLISH, code_of
from research.engine.text.tokens import capitalize_heading, term_set, words_in

LONGEST = 14
"""Words from which on an event goes without a dependent clause at its end."""
_CONNECTIVE = re.compile(
    r"(?:(?:However|Moreover|Furthermore|In addition|Additionally|Also|Besides|Meanwhile|Later"
    r"|Then|Next|Subsequently|Afterwards|Thereafter|Finally|Eventually|Nevertheless|Nonetheless"
    r"|Still|Yet|Thus|Therefore|Hence|Consequently|As a result|Instead|In turn|Likewise|Similarly"
    r"|At the same time|(?:Soon|Shortly) (?:after|afterwards)|By contrast|In contrast"
    r"|On the other hand|(?:The|That) (?:same|following|next) (?:year|month|day)"
    r"|(?:\w{1,20} ){1,2}(?:years?|months?|weeks?|days?) later|Außerdem|Cependant|En revanche"
    r"|Ensuite|Par ailleurs|Sin embargo|Además|Tuttavia|Inoltre|No entanto|Além disso), "
    r"|In (?:the|that) (?:same|following|next) (?:year|month)(?:, | (?!as\b|that\b|when\b|in\b"
    r"|of\b))|(?:And|But|Und|Aber|Doch|Et|Mais|Y|Pero|Ma|Mas|En|Maar) (?=\w))"
)
_FROM = re.compile(r"\b(?:from|between|von|vom|zwischen|d[eu]|entre|da|tra|van|tussen) $", re.I)
_TO = re.compile(
    r"\s?(?:–|-|—|to|until|till|through|bis(?: zum)?|au|à|jusqu['’]en|a|hasta|fino a|até|tot)\s?",
    re.IGNORECASE,
)
_AND = re.compile(r"\s?(?:and|und|et|y|e|en)\s?", re.IGNORECASE)
_LABEL = re.compile(r"\*{0,2}(?::|\s[–—-](?!.*\s[–—-]\s))\*{0,2}\s+(?=\S)")
_BOUNDARY = re.compile(r"(?:;|,? (?:and|but)|, (?:while|whereas)) ")
_IN, _MARK, _COMMA = re.compile(r"(?:In|On) "), re.compile(r"\*{0,2}"), re.compile(r",(?!\d)")
_LEAD = re.compile(r"(?:in|on|by|since|from|during|at) (?:early |late |mid-)?$", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:the|an?|its|his|her|their|our|no|all|both|some|many|most|several|two|three|four|five|six"
    r"|another|every|each|\d[\d,.]{0,12}) \w|[A-Z]",
)
_VERB = re.compile(
    r"\b(?:was|were|is|are|has|have|had|did|does|will|would|could|can|may|must|became|began|came"
    r"|went|took|made|gave|got|won|lost|fell|rose|built|held|left|met|sold|sent|shut|struck|broke"
    r"|burnt|brought|bought|found|fought|drew|grew|hit|kept|laid|led|paid|ran|said|saw|set|spoke"
    r"|spent|stood|swore|taught|threw|told|wrote|chose|cut|died|dates?(?= from| back)"
    r"|[a-z]{2,20}ed)\b"
)
_REPORTED = re.compile(
    r"\b(?:that|whether|says?|said|according to|claims?|reports?|recalls?|finds?"
    r"|dates?(?! from| back))\b"
)
_DEPENDENT = re.compile(
    r"^(?:After|Before|When|While|Once|Until|Although|Though|Because|As|If|Whereas)\b"
)
_TAIL = re.compile(
    r", (?:so that|which|where|whereas|while|although|though|because|since it|as it"
    r"|(?:and|but|so) (?:it|they|he|she|there|nobody|nothing)\b) (?:[^,;]|,(?=\d)){1,300}$"
)


@dataclass(frozen=True)
class Event:
    """An event with its date, the last one of a span in `until`, and the evidence of its text."""

    date: Date
    text: str
    evidence: tuple[str, ...]
    until: Date | None = None


def events_of(said: Statement, language: str) -> tuple[Event, ...]:
    """Return the events of a statement whose dates have a month; where none has, that of its years;
    () without a date.
    """
    body = said.body
    found = [each for each in find_dates(body) if is_exact(each.date)]
    if not found:
        return (_event(body, said),) if _dates_of(body) else ()
    if len({each.date for each in found}) > 1 and _is_english(language):
        clauses = [*_clauses(body, found)]
        if all(_stands_alone(each, body, language) for each in clauses):
            events = [_event(each, said, is_part=True) for each in clauses]
            if len({event.date for event in events}) == len(events) > 1:
                return tuple(events)
    return (_event(body, said),)


def agree(one: Date, other: Date) -> bool:
    """Return whether two dates are the same, or one of them is and says less."""
    return is_within(one, other) or is_within(other, one)


def is_exact(date: Date) -> bool:
    year, month, _ = date
    return year is not None and month is not None


def shorten(text: str) -> str:
    """Return a long sentence without the dependent clause that ends it and has no date."""
    tail = _TAIL.search(text)
    if tail is None or words_in(text) < LONGEST or find_dates(tail[0]):
        return text
    head = text[: tail.start()]
    is_whole = _VERB.search(without_dates(head)) and not _DEPENDENT.match(head)
    return f"{head}." if is_whole else text


def without_opening_date(event: Event, language: str) -> str:
    """Return the text of an event without its date where that opens it as a label ("May 2010: the
    mill closed"), or in English as an adverbial ("In May 2010 the mill closed").
    """
    text = event.text
    first, last = (*find_dates(text)[:2], None, None)[:2]
    if first is None or not is_within(first.date, event.date):
        return text
    end = last.end if last and _is_span(text, first, last) else first.end
    lead, rest = text[: _begin(first)], text[end:]
    label = _LABEL.match(rest) if _MARK.fullmatch(lead) else None
    if label:
        return capitalize_heading(rest[label.end() :])
    said = rest.removeprefix(",").lstrip()
    main, *_ = _COMMA.split(said)
    is_clause = _SUBJECT.match(said) and _VERB.search(without_dates(main))
    is_adverbial = _is_english(language) and _IN.fullmatch(lead) and is_clause
    return capitalize_heading(said) if is_adverbial else text


def _is_english(language: str) -> bool:
    return code_of(language).partition("-")[0] in {"", ENGLISH}


def _event(text: str, said: Statement, *, is_part: bool = False) -> Event:
    """Return the event of a text, in a span its first date and its last."""
    first, *others = _dates_of(text)
    until = next((each.date for each in others[:1] if _is_span(text, first, each)), None)
    whole = without_connective(text)
    return Event(first.date, whole, _evidence_of(text, said) if is_part else said.evidence, until)


def _dates_of(text: str) -> list[FoundDate]:
    """Return the dates of a text that have a month, without those that it also gives more exactly;
    where none has a month, its years.
    """
    dates = find_dates(text)
    exact = [each for each in dates if is_exact(each.date)]
    rough = {
        one.date
        for one in exact
        for other in exact
        if one.date != other.date and is_within(one.date, other.date)
    }
    most = [each for each in exact if each.date not in rough]
    return most or [each for each in dates if each.date[0] is not None]


def _is_span(text: str, first: FoundDate, last: FoundDate) -> bool:
    """Return whether two dates are the ends of a span: "from May to June 2013", "3-5 May 2013"."""
    if last.start < first.end:
        return True
    between = text[first.end : _begin(last)]
    if _TO.fullmatch(between):
        return True
    return bool(_AND.fullmatch(between) and _FROM.search(text[: _begin(first)]))


def _begin(found: FoundDate) -> int:
    """Return where a date begins; a lone year is found with the word before it."""
    return found.start if found.date[1] else found.end - len("2013")


def without_connective(text: str) -> str:
    """Return a sentence without the connective that opens it."""
    opening = _CONNECTIVE.match(text)
    return capitalize_heading(text[opening.end() :]) if opening else text


def _clauses(body: str, found: list[FoundDate]) -> Iterator[str]:
    """Yield the dated clauses of a sentence, each as a complete sentence."""
    start = 0
    for boundary in _BOUNDARY.finditer(body):
        rest = body[boundary.end() :]
        is_dated = any(start <= each.start < boundary.start() for each in found)
        is_more = any(each.start >= boundary.end() for each in found)
        if is_dated and is_more and _has_subject(rest):
            yield _as_sentence(body[start : boundary.start()])
            start = boundary.end()
    yield _as_sentence(body[start:])


def _has_subject(rest: str) -> bool:
    """Return whether a clause begins with a subject, maybe behind its date: "in May 2013 the"."""
    if _SUBJECT.match(rest):
        return True
    first = next(iter(find_dates(rest)), None)
    if first is None or not _LEAD.fullmatch(rest[: first.start]):
        return False
    return bool(_SUBJECT.match(rest[first.end :].lstrip(", ")))


def _stands_alone(clause: str, body: str, language: str) -> bool:
    """Return whether a clause can be read without its sentence and is no reported speech."""
    is_clause = _VERB.search(without_dates(clause)) and not _DEPENDENT.match(clause)
    is_dated = any(is_exact(each.date) for each in find_dates(clause))
    if not (is_clause and is_dated) or _REPORTED.search(clause):
        return False
    return body.startswith(clause[:-1]) or not leans_back(clause, language, term_set(body))


def _as_sentence(clause: str) -> str:
    return f"{capitalize_heading(clause.strip().rstrip('.,;'))}."


def _evidence_of(clause: str, said: Statement) -> tuple[str, ...]:
    """Return the evidence that is cited in or right behind a clause of a statement."""
    wanted = clause[1:].rstrip(".")
    ids = [ids for text, ids in said.parts if wanted in text]
    return ids[0] if ids and ids[0] else said.evidence
