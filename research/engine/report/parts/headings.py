"""Short headings of sub-questions, which name a section and what an item of the summary answers,
and the headings of an author, which may tell nothing that nothing below them tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from research.engine.evidence.claims.names import unknown_names
from research.engine.evidence.ledger import Ledger
from research.engine.report.draft import Draft, Statement
from research.engine.text import entities
from research.engine.text.tokens import (
    capitalize_heading,
    is_unspaced,
    question_joints,
    term_set,
    words_in,
)
from research.engine.untrusted.prompt_injection import is_order

LONGEST_HEADING = 10
"""Words of a heading that is not shortened."""
_FEWEST = 5
"""Words of the clauses that a heading keeps."""
_SUBJECT = re.compile(r"[^:：]{2,200}[:：]\s*")
_BREAK = re.compile(r"[,;:(（，；：、]|\s[–—-]\s")
_ASIDE = re.compile(r"\s?\([^()]{1,200}\)")
_NAME = r"(?:the\s)?[A-Z][\w’'-]*(?:\s[A-Z][\w’'-]*){0,4}"
_PREPOSITION = r"(?:of|for|on|by|in|at|along|among|between|from|to|with)"
_ENUMERATED = re.compile(  # "on the Ash Way, the Elm Way and the Oak Way"
    rf"\s(?:(?P<placed>{_PREPOSITION})\s|(?P<doing>are|do|have|were|did|can|will)\s)?"
    rf"(?:{_NAME},\s){{1,14}}(?:(?:and|or)\s)?{_NAME}(?:,?\s(?:and|or)\s{_NAME})?"
)
_PLACED = re.compile(rf"\s{_PREPOSITION}\s(?P<name>{_NAME})(?=[\s,;?]|$)")
"""A name behind a preposition, such as that of the place that the whole report is on."""


def headings_of(ledger: Ledger) -> dict[str, str]:
    """Return the heading of each sub-question: that of the plan, else its words in short; a lone
    one keeps its words.
    """
    texts = [each.text for each in ledger.aspects.values()]
    found = short_headings(texts)
    planned = {part.text: part.heading for part in ledger.plan.aspects if part.heading}
    return {
        part: planned.get(text, short)
        for part, text, short in zip(ledger.aspects, texts, found, strict=True)
    }


def short_headings(texts: Sequence[str]) -> list[str]:
    """Return the texts as headings: without the subject before a colon that half of them share,
    and those of many words with as many clauses as fit, or whole.
    """
    subjects = [_subject(text) for text in texts]
    counts = Counter(filter(None, subjects))
    shared = {subject for subject, n in counts.items() if n > 1 and 2 * n >= len(texts)}
    if len(texts) == 1:
        return [capitalize_heading(text) for text in texts]
    texts = _without_shared_names([_without_enumeration(text) for text in texts])
    return [
        _shortened(text, subject if subject in shared else "")
        for text, subject in zip(texts, subjects, strict=True)
    ]


def _without_enumeration(text: str) -> str:
    """Return an English question without the names that it lists."""

    def instead(found: re.Match[str]) -> str:
        if found["placed"]:
            return ""
        return f" {found['doing']} they" if found["doing"] else " them"

    return _ENUMERATED.sub(instead, text)


def _without_shared_names(texts: Sequence[str]) -> list[str]:
    """Return English questions without the place or thing that half of them name."""
    named = Counter(
        name for text in texts for name in {found["name"] for found in _PLACED.finditer(text)}
    )
    shared = {name for name, n in named.items() if n > 2 and 2 * n >= len(texts)}

    def shorter(found: re.Match[str]) -> str:
        return "" if found["name"] in shared else found[0]

    return [_PLACED.sub(shorter, text) for text in texts]


def label(heading: str) -> str:
    """Return a heading as it opens a line."""
    return heading if heading.endswith(("?", "？")) else f"{heading}:"


def _subject(text: str) -> str:
    found = _SUBJECT.match(text)
    return found[0] if found and found.end() < len(text) else ""


def _shortened(text: str, subject: str) -> str:
    """Return a text of few words; what named its subject is no whole question any more."""
    whole = text.removeprefix(subject).strip()
    if subject:
        whole = whole.rstrip("?？ ")
    if is_unspaced(whole) or len(whole.split()) <= LONGEST_HEADING:
        return capitalize_heading(whole) if whole else text
    return capitalize_heading(_first_clauses(whole))


def _first_clauses(text: str) -> str:
    """Return as many clauses as fit, of a long first one that alone; of one clause the whole."""
    text = _ASIDE.sub("", text)
    if len(text.split()) <= LONGEST_HEADING:
        return text
    ends = {*(found.start() for found in _BREAK.finditer(text)), *question_joints(text)}
    clauses = [text[:end] for end in sorted(ends)]
    counts = [(len(clause.split()), clause) for clause in clauses]
    fitting = [clause for n, clause in counts if _FEWEST <= n <= LONGEST_HEADING]
    longer = (clause for n, clause in counts if n > LONGEST_HEADING)
    kept = fitting[-1] if fitting else next(longer, text)
    mark = text[-1] if text.endswith(("?", "？")) else ""
    return kept if kept == text else f"{_without_end(kept)}{mark}"


def _without_end(text: str) -> str:
    return text.rstrip("?？.,;: ")


# --- headings of an author ---------------------------------------------------------------

LONGEST_GIVEN = 12
OWN_SHARE = 1 / 3
"""Share of a heading's terms that may be its author's; one always may ("Why DVDs come second")."""


def with_fitting_headings(draft: Draft, ledger: Ledger) -> Draft:
    """Return a checked draft without headings that say what nothing under them says: its sections
    go by their sub-questions, its steps stand without a head.
    """
    if not draft.is_authored:
        return draft
    sections = tuple(
        replace(each, heading=fitting_heading(each.heading, each.statements, ledger))
        for each in draft.sections
    )
    steps = tuple(
        replace(each, head=fitting_heading(each.head, draft.next_steps, ledger))
        for each in draft.next_steps
    )
    return replace(draft, sections=sections, next_steps=steps)


def fitting_heading(text: str, below: Sequence[Statement], ledger: Ledger) -> str:
    """Return a heading, "" if it is too long or an order, or has numbers, names or more than a few
    words that neither the question nor the statements `below` have. What a page dictates doesn't
    count as said.
    """
    if not text or words_in(text) > LONGEST_GIVEN or is_order(text, ledger.question):
        return ""
    records = ledger.book.records
    said = (
        each.body
        for each in below
        if not any(i in records and records[i].is_dictated for i in each.evidence)
    )
    asked = (each.text for each in ledger.aspects.values())
    known = " ".join((ledger.question, *asked, *said))
    numbers = {*entities.find_numbers(text)} - {*entities.find_numbers(known)}
    within = text[:1].lower() + text[1:]
    if numbers or any(unknown_names(within, known, ledger.plan.language)):
        return ""
    terms = term_set(text.replace("-", " "))
    own = terms - term_set(f"{known} {known.replace('-', ' ')}")
    return "" if len(own) > max(1, OWN_SHARE * len(terms)) else capitalize_heading(text)
