"""Parse the kind of a question and the kind of answer it asks for from its words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.engine.offline.questions.interrogatives import Kind, asked_in, is_open_ended
from research.engine.records import Complexity
from research.engine.text import entities
from research.engine.text.language import ENGLISH, language_of
from research.engine.text.tokens import normalise_space, split_terms, split_tokens, unique_texts

_CUES: tuple[tuple[Kind, str], ...] = (
    ("comparison", r"\b(?:versus|vs\.?|compared? (?:to|with)|compare|difference between)\b"),
    ("how_to", r"^(?:how (?:to|(?:do|can|should) (?:i|you|we|one))\b|steps to\b|recipe\b)"),
    ("how_many", r"\bhow (?:many|much|long|old|far|tall|big|large|high|often|fast|deep|heavy)\b"),
    (
        "how_many",
        r"^what(?:'s| is) the (?:maximum|minimum|"
        r"(?:largest|smallest|longest|shortest|highest|lowest) (?:possible |allowed )?"
        r"(?:number|amount|count|size|length|width|depth|value))\b",
    ),
    ("when", r"\bwhen (?:did|was|were|is|will|does|do)\b"),
    ("when", r"\b(?:what|which) (?:year|date|month|day|century)\b"),
    ("who", r"\b(?:who|whom|whose)\b"),
    ("where", r"\bwhere\b|\b(?:what|which) (?:city|country|state|county|place|town|region)\b"),
    ("why", r"^why\b|\bwhat (?:causes|is the reason)\b"),
    ("how", r"^how\b"),
    ("yes_no", r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may)\b"),
    ("which", r"\bwhich\b"),
    ("what", r"\bwhat\b|^define\b"),
)
FEW_WORDS = 8
_KINDS = tuple((kind, re.compile(cue, re.IGNORECASE)) for kind, cue in _CUES)
_OPEN_ENDED = re.compile(
    r"\b(?:impacts?|effects?|influence|implications?|consequences?|trade-?offs?|pros and cons"
    r"|advantages|disadvantages|benefits|risks|challenges|future|outlook|landscape|overview"
    r"|state of|history of|evolution|trends?|compare|comparison|versus|strateg(?:y|ies)"
    r"|role of|relationship between|best practices|approaches|options)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"(?<!\s)\s+or\s+", re.IGNORECASE)

_COMPARES = re.compile(r"\b(?:versus|vs\.?|compared?)(?=\s)", re.IGNORECASE)
"""Words that say how to answer, not what is asked about."""


@dataclass(frozen=True)
class Asked:
    """A question read: `terms` are its stems in order, `names` the proper names in it."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]
    complexity: Complexity


def read_question(text: str) -> Asked:
    """Kind, terms, names and complexity of a question, by its wording alone."""
    plain = normalise_space(text)
    kind = _question_kind(plain)
    names = tuple(name for name in entities.find_names(plain) if split_terms(name))
    about = _COMPARES.sub(" ", plain) if kind == "comparison" else plain
    return Asked(
        plain,
        kind,
        tuple(unique_texts(split_terms(about))),
        names,
        _question_complexity(plain, kind, names),
    )


def _question_kind(text: str) -> Kind:
    language = language_of(text)
    if language != ENGLISH and (foreign := asked_in(language, text)):
        return foreign
    found: Kind | None = next((kind for kind, cue in _KINDS if cue.search(text)), None)
    return found or "overview"


def _question_complexity(text: str, kind: Kind, names: tuple[str, ...]) -> Complexity:
    """Open-ended wording is complex; a plain how-to, definition or single fact is simple."""
    words = len(split_tokens(text))
    several = {"overview", "what", "how", "which", "comparison"}
    english = language_of(text) == ENGLISH
    if kind == "comparison" and words <= FEW_WORDS:
        return Complexity.ORDINARY
    if kind in several and (_OPEN_ENDED.search(text) if english else is_open_ended(text)):
        return Complexity.COMPLEX
    if kind == "overview" and words > 3:
        return Complexity.COMPLEX
    if kind == "how_to" or words <= 6:
        return Complexity.SIMPLE
    if kind == "what" and words <= FEW_WORDS and len(names) <= 1:
        return Complexity.SIMPLE
    return Complexity.ORDINARY


def compared_sides(asked: Asked) -> tuple[str, str] | None:
    """Return the two things that an "A or B" question sets against each other."""
    last = re.split("[,?]", asked.text.removesuffix("?"))[-1]
    either = _OR.split(last, maxsplit=1)
    if len(either) < 2:
        return None
    one, other = map(entities.find_names, either)
    if one and other:
        return one[-1], other[0]
    return None
