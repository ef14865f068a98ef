"""What code alone may take for an answer: it is on what is asked, and of the kind asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from research.engine import features
from research.engine.extractive.matching import holds_one, share_held
from research.engine.extractive.procedures import instructs
from research.engine.extractive.question import Asked, read_question
from research.engine.extractive.signs import people
from research.engine.extractive.wanted import Need, decides, tells_when
from research.engine.ledger import SUPPORTS
from research.engine.quotes import plain
from research.engine.records import Evidence, Quoted
from research.engine.relevance import term_weights
from research.engine.text import term_set

DIRECT = 0.57
TOGETHER = 0.65
_DIGITS = re.compile(r"\d+")


def answers(text: str, context: str, asked: str) -> bool:
    """Whether a passage is on what is asked and brings what the question asks for.

    Passage and context (title and section) hold a share of `SUPPORTS` of the question's terms by
    weight, and the passage itself holds one that is no name, if there is any.
    """
    weights, held = term_weights(asked), term_set(text)
    near = held | term_set(context)
    share = sum(w for term, w in weights.items() if term in near) / max(1.0, sum(weights.values()))
    named = frozenset().union(*map(term_set, features.names(asked)))
    matter = frozenset(weights) - named
    return share >= SUPPORTS and (not matter or bool(matter & held)) and brings(text, asked)


def brings(text: str, asked: str) -> bool:
    """Whether a passage holds a date, number or name that the question asks for and lacks.

    Only questions for a date, a number, a person, a place or one of several ask for such;
    what happens again and again may also be told by a condition.
    """
    question = read_question(asked)
    if question.kind == "when":
        return tells_when(text, asked)
    if question.kind == "how_many":
        return bool(set(features.numbers(text)) - set(features.numbers(asked)))
    known = frozenset(question.terms)
    if question.kind == "who":
        return any(term_set(name) - known for name in people(text))
    if question.kind in {"where", "which"}:
        named = any(term_set(name) - known for name in features.names(text))
        return named or bool(set(_DIGITS.findall(text)) - set(_DIGITS.findall(asked)))
    return True


def direct(records: Sequence[Evidence], asked: Asked) -> list[Evidence]:
    """Those that answer directly: each holds what the kind of question asks for together with
    most of the question's words. None where the best of all is not close or not among them."""
    best = max((record.relevance for record in records), default=0.0)
    need = Need.of(asked)
    found = [
        record
        for record in records
        if decides(plain(record.sources[0].quote), need) and _holds_most(record.sources[0], asked)
    ]
    leads = best >= DIRECT and any(record.relevance == best for record in found)
    return found if leads else []


def _holds_most(source: Quoted, asked: Asked) -> bool:
    """Whether most of the question stands in a quote and the heading right above it, and the
    quote itself says something of it that is no name and that the heading leaves open.

    A step is of what its page's title and its heading say, and need not repeat that.
    """
    above = source.section.rpartition(" › ")[2]
    is_step = asked.kind == "how_to" and instructs(plain(source.quote))
    if is_step:
        above = f"{source.title} {above}"
    if share_held(asked.text, f"{above} {source.quote}") < TOGETHER:
        return False
    named = frozenset().union(*map(term_set, asked.names))
    matter = frozenset(asked.terms) - named
    wanted = {term for term in matter if not holds_one([term], above)}
    if not (wanted or is_step):
        wanted = set(matter)
    return not wanted or holds_one(wanted, source.quote)
