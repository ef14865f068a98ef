"""Decide by its words whether a passage may answer a question: on its subject and of the requested
kind.
"""

from __future__ import annotations

import re

from research.engine.evidence.ledger import SUPPORTS
from research.engine.offline.passages.passage_signs import AskedText
from research.engine.offline.questions.question import read_question
from research.engine.text import entities
from research.engine.text.dates import without_dates
from research.engine.text.entities import NUMBER, plain_number
from research.engine.text.quantities import parse_figures
from research.engine.text.relevance import term_weights
from research.engine.text.sentences import Sentence, split_sentences
from research.engine.text.tokens import term_set

_DIGITS = re.compile(r"\d+")
_SIZE = re.compile(
    r"\bhow (?!many\b|often\b)\w+|\bwie ?(?!viele\b|oft\b)\w+|\bhoe ?(?!veel\b|vaak\b)\w+",
    re.IGNORECASE,
)
"""`How large`, `how long`: a question for a measure, no count."""
_PAST = re.compile(
    r"\bwhen (?:did|was|were)\b|\b(?:what|which) \w+\b"
    r"|\bwann (?:wurden?|waren?|hatten?|begann|starb|entstand)\b"
    r"|\bquand (?:a|ont|fut|était|furent)\b"
    r"|\bcuándo (?:fue|se|nació|murió)\b|\bquando (?:è stat|fu|foi|nacque|morì|nasceu|morreu)"
    r"|\bwanneer (?:werd|was)\b|\b(?:welche\w*|quel\w*|qué|che|que|welke?) \w+\b",
    re.IGNORECASE,
)
"""`When was it built?`: only a date answers."""
_CONDITION = re.compile(
    r"\b(?:when|whenever|if|once|after|before|until|unless|while|as soon as|only|every|each|wenn"
    r"|sobald|nachdem|bevor|falls|jede[rsn]?|quand|lorsque|dès|après|avant|chaque|cuando|después"
    r"|antes|cada|quando|dopo|prima|depois|wanneer|zodra|nadat|voordat|elke?)\b",
    re.IGNORECASE,
)
"""`whenever the limit is reached`: what happens again and again may be stated by a condition."""


def is_answer(text: str, context: str, asked: str) -> bool:
    """Return whether a passage is on the subject and contains what the question asks for.

    Passage and context (title and section) contain at least `SUPPORTS` of the question's terms by
    weight, and the passage alone contains one that is no name, if there is any.
    """
    weights, held = term_weights(asked), term_set(text)
    near = held | term_set(context)
    share = sum(w for term, w in weights.items() if term in near) / max(1.0, sum(weights.values()))
    named = frozenset().union(*map(term_set, entities.find_names(asked)))
    matter = frozenset(weights) - named
    return share >= SUPPORTS and (not matter or bool(matter & held)) and brings_wanted(text, asked)


def brings_wanted(text: str, asked: str) -> bool:
    """Return whether a passage contains a date, number or name that the question asks for and
    lacks.

    Applies only to questions for a date, a number, a person, a place or one of several. A
    size takes a figure or a unit: "two" is how many, but not how large.
    """
    question = read_question(asked)
    if question.kind == "when":
        happened = _PAST.search(asked) is not None
        return bool(entities.find_dates(text)) or (not happened and bool(_CONDITION.search(text)))
    if question.kind == "how_many" and _SIZE.search(asked):
        return size_worth(text, asked) > 0
    if question.kind == "how_many":
        return bool(set(entities.find_numbers(text)) - set(entities.find_numbers(asked)))
    known = frozenset(question.terms)
    if question.kind == "who":
        return any(term_set(name) - known for name in _people(text))
    if question.kind in {"where", "which"}:
        named = any(term_set(name) - known for name in entities.find_names(text))
        return named or bool(set(_DIGITS.findall(text)) - set(_DIGITS.findall(asked)))
    return True


def split_at_answer(text: str, asked: str) -> tuple[str, str, str]:
    """Return a passage in three parts: what is before the sentence that most likely answers, that
    sentence, and what follows. A table or code stays whole.

    A sentence that states the rule, reason, default or version that is asked for comes before one
    with more of the question's words.
    """
    sentences = split_sentences(text)
    if len(sentences) < 2 or any(each.kind in {"row", "code"} for each in sentences):
        return "", text, ""
    weights = term_weights(asked)
    question = AskedText(asked)

    def worth(sentence: Sentence) -> tuple[int, bool, float]:
        held = term_set(sentence.text)
        return (
            kind_worth(sentence.text, asked),
            question.is_met_by(sentence.text),
            sum(w for term, w in weights.items() if term in held),
        )

    best = max(sentences, key=worth)
    before, after = text[: best.start].strip(" …"), text[best.end :].strip(" …")
    return before, text[best.start : best.end], after


def size_worth(text: str, asked: str) -> int:
    """Return how well a passage gives a size: 3 by a figure with a unit in a sentence on what is
    asked about or behind one, 2 there by digits with a noun ("1,200 crowns", not "FIPS 204"), 1 by
    either of them elsewhere, otherwise 0.
    """
    known = {amount.value for amount in parse_figures(asked).amounts}
    about = _asked_about(asked)
    best, before = 0, False
    for sentence in split_sentences(text):
        is_near = not about or bool(term_set(sentence.text) & about)
        digits = {plain_number(n) for n in NUMBER.findall(without_dates(sentence.text))}
        found = [each for each in parse_figures(sentence.text).amounts if each.value not in known]
        has_unit = any(each.unit for each in found)
        if has_unit or any(each.noun and each.value in digits for each in found):
            best = max(best, 2 + has_unit if is_near or before else 1)
        before = is_near
    return best


def _asked_about(asked: str) -> frozenset[str]:
    """Return the terms of the sentence that asks for a size, without the word for the size."""
    found = _SIZE.search(asked)
    if found is None:
        return frozenset()
    asking = re.split(r"[?？.!(]", asked[found.end() :], maxsplit=1)[0]
    return term_set(asking)


def kind_worth(text: str, asked: str) -> int:
    """Return how well a passage has the kind of answer that is asked for, 0 to 3; 1 is something of
    that kind on another thing.
    """
    if read_question(asked).kind == "how_many" and _SIZE.search(asked):
        return size_worth(text, asked)
    return 3 * brings_wanted(text, asked)


def _people(text: str) -> tuple[str, ...]:
    """Names that may be a person's or a body's: no dates, nothing with a digit."""
    return tuple(n for n in entities.extract_fields(text).names if not any(map(str.isdigit, n)))
