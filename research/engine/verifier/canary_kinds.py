"""Ways to word a vouched sentence anew, and ways to make it say more than its quote.

Each way is a rule on the sentence's text. What it makes is true or false by construction: a
faithful one only changes the form, an unfaithful one brings in a word that its quote lacks.
`python -m bench.verifier canaries` shows how they do on labelled examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from random import Random
from types import MappingProxyType

from research.engine.journal.forms import NEWEST, Form
from research.engine.text.tokens import STOP_WORDS, term_set
from research.engine.verifier.pairs import DATA

_NOUN = re.compile(
    r"\b(?P<before>(?:the|a|an|its|their|his|her|this|each|every|no) )(?P<noun>[a-z]{4,})"
    r"(?=[.,;:]|\s(?:of|in|at|on|for|from|to|with|by|is|was|are|were|has|had|and|or|that|which)\b)"
)  # "the lighthouse of", "its keeper was"
_DETAIL = re.compile(
    r"\s(?P<detail>(?:after|before|during|without|despite|through|across|under|with|for|near|by)"
    r" (?:the|a|an|its|their) [a-z]+(?: [a-z]+){0,4})\.$"
)  # "… by two brothers from the village." has "the village"; "… during the dry months."
_FRONTED = re.compile(
    r"^(?P<when>(?:In|On|At|By|During|Since)(?: [\w-]+){1,4}), (?!and|but|or|who|which|where|while)"
    r"(?P<rest>[^,;:]+)\.$"
)  # "In 1887, the lamp was lit."
_BRACKETED = re.compile(r" \([^()]{3,80}\)")  # " (built in 1887)"
_RELATIVE = re.compile(r", (?:which|who) [^,;]{3,80},")  # ", who led the trial,"
_JOINTS = ("; ", ", and ")
_LEAST_LENGTH = 12
_DATE = re.compile(
    r"\b(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November"
    r"|December) (\d{4})\b"
)  # "14 March 1887"
_COUNTS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_LEAST_COUNT = 3
_WORDS = re.compile(r"[^\W_]+")
_LIMITING = frozenset((
    "about", "almost", "although", "as", "at", "but", "can", "could", "except", "if", "less",
    "likely", "may", "might", "more", "most", "nearly", "never", "no", "not", "only", "or",
    "perhaps", "provided", "should", "so", "some", "than", "though", "unless", "until", "usually",
    "when", "where", "while", "without",
))  # fmt: skip
"""Words of a part that a sentence may not do without."""
_KIND = (
    r"(?:argument|attribute|button|class|clause|column|command|field|flag|function|keyword|label"
    r"|level|method|mode|option|parameter|phase|policy|setting|state|status|type|value|variant)s?"
)
_NAMES_BEFORE = re.compile(rf"(?:[\"“”'‘’`=/]|\b(?:called|named|{_KIND}|set to)\s)$", re.IGNORECASE)
_NAMES_BEHIND = re.compile(rf"[\"“”'’`=/(]|\s{_KIND}\b", re.IGNORECASE)
_ITEM_BEFORE = re.compile(r"(?:,|\b(?:and|or|between|either))\s$")
_ITEM_BEHIND = re.compile(r"[,.;)]|\s(?:and|or)\b")
_VOWEL = re.compile(
    r"(?!(?:uni(?!n|m)|us[aeiu]|uti|ur[aio]|eu|one\b|once\b))[aeiou]|(?:hour|hono|honest|heir)",
    re.IGNORECASE,
)  # "an index", "an hour", "a user", "a unit"
_COUNT = re.compile(rf"\b({'|'.join(_COUNTS)})(?= [a-z]+s\b)")  # "twelve weeks"
_VAGUE = STOP_WORDS | frozenset(
    [
        "time",
        "times",
        "year",
        "years",
        "part",
        "parts",
        "same",
        "other",
        "others",
        "first",
        "last",
        "second",
        "number",
        "result",
        "results",
        "case",
        "cases",
        "thing",
        "things",
        "rest",
        "kind",
        "more",
        "most",
        "less",
        "least",
    ]
)


@dataclass(frozen=True)
class Phrases:
    """What the run's other sentences lend to an unfaithful one. An article before it agrees with
    its sound; in runs before `Form.COMPUTED` with its spelling.
    """

    nouns: tuple[str, ...]
    details: tuple[str, ...]
    form: Form = NEWEST
    _foreign: dict[tuple[str, str], tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(cls, sentences: Sequence[str], form: Form = NEWEST) -> Phrases:
        nouns = {found["noun"]: None for text in sentences for found in _NOUN.finditer(text)}
        details = {found["detail"]: None for text in sentences for found in _DETAIL.finditer(text)}
        usable = tuple(noun for noun in nouns if noun not in _VAGUE and not _is_verb_form(noun))
        return cls(
            usable,
            tuple(detail for detail in details if not _VAGUE & set(detail.split()[2:])),
            form,
        )

    def foreign_to(self, quote: str, kind: str) -> tuple[str, ...]:
        """Return the phrases of a kind of which the quote has no word: "noun", those of them that
        are "plural" or "singular", or "detail". They are found once for each quote.
        """
        key = (quote, kind)
        if key not in self._foreign:
            if kind in {"plural", "singular"}:
                is_plural = kind == "plural"
                nouns = self.foreign_to(quote, "noun")
                found = (noun for noun in nouns if noun.endswith("s") is is_plural)
            else:
                phrases = self.details if kind == "detail" else self.nouns
                known = term_set(quote)
                found = (phrase for phrase in phrases if known.isdisjoint(term_set(phrase)))
            self._foreign[key] = tuple(found)
        return self._foreign[key]


def _is_verb_form(noun: str) -> bool:
    return bool(re.search(r"(?:ed|ing|ly)$", noun))


Unfaithful = Callable[[str, str, Phrases, Random], str]
"""Sentence, its quote, phrases, chance → the sentence made false, "" where it can't be."""


def change_thing(sentence: str, quote: str, phrases: Phrases, chance: Random) -> str:
    """Put a thing that the quote does not name in the place of one that it does."""
    places = _changeable(sentence)
    if not places:
        return ""
    place = chance.choice(places)
    old = place["noun"]
    kind = "plural" if old.endswith("s") else "singular"
    new = _any_foreign(phrases, quote, kind, chance)
    before = _article(place["before"], new, phrases.form >= Form.COMPUTED)
    return f"{sentence[: place.start()]}{before}{new}{sentence[place.end() :]}" if new else ""


@lru_cache(maxsize=1024)
def _changeable(sentence: str) -> tuple[re.Match[str], ...]:
    """Return where a sentence names a thing that another may take the place of."""
    return tuple(found for found in _NOUN.finditer(sentence) if found["noun"] not in _VAGUE)


def add_detail(sentence: str, quote: str, phrases: Phrases, chance: Random) -> str:
    """Add a circumstance that another sentence of the run tells of something else."""
    detail = _any_foreign(phrases, quote, "detail", chance)
    return f"{sentence[:-1]} {detail}." if detail and sentence.endswith(".") else ""


def add_cause(sentence: str, quote: str, phrases: Phrases, chance: Random) -> str:
    """Add a cause that the quote does not name."""
    noun = _any_foreign(phrases, quote, "noun", chance)
    return f"{sentence[:-1]} because of the {noun}." if noun and sentence.endswith(".") else ""


UNFAITHFUL: Mapping[str, Unfaithful] = {
    "changed thing": change_thing,
    "added detail": add_detail,
    "added cause": add_cause,
}


def _any_foreign(phrases: Phrases, quote: str, kind: str, chance: Random) -> str:
    """Return a phrase of which the quote has no word; "" for none."""
    usable = phrases.foreign_to(quote, kind)
    return chance.choice(usable) if usable else ""


def _article(before: str, noun: str, agrees: bool) -> str:
    """Return the word before a noun; of an indefinite article the form that fits the noun."""
    if before.lower() not in {"a ", "an "}:
        return before
    is_vowel = bool(_VOWEL.match(noun)) if agrees else noun[:1] in "aeiou"
    return f"{before[0]}n " if is_vowel else f"{before[0]} "


# --- faithful -------------------------------------------------------------------------------


def reword_sentence(sentence: str, chance: Random, form: Form = NEWEST) -> str:
    """Return the sentence in other words with the same meaning, perhaps saying less; it may be the
    same where no way fits. In runs before `Form.COMPUTED` a word may be taken for another part of
    speech, and an article may not fit the word behind it; before `Form.EDITED` it may be a name.
    """
    return _in_other_words(shorten_sentence(sentence, chance, form), form)


@lru_cache(maxsize=1024)
def _in_other_words(sentence: str, form: Form) -> str:
    return _with_other_words(_with_digits(_with_other_dates(sentence)), form)


def shorten_sentence(sentence: str, chance: Random, form: Form = NEWEST) -> str:
    """Return the sentence in another order or without a part that it can do without; since
    `Form.EDITED` without none that limits it, and without none of a list.
    """
    for way in chance.sample(
        [_front_to_end, _without_bracket, _without_relative, _without_joined], 2
    ):
        shorter = way(sentence)
        if form < Form.EDITED or not _loses_much(sentence, shorter):
            sentence = shorter
    return sentence


def _loses_much(sentence: str, shorter: str) -> bool:
    """Return whether a sentence cut short has lost an item of a list or what limits it, so that a
    careful reader may find that it says something else.
    """
    cut = Counter(_WORDS.findall(sentence.lower()))
    cut.subtract(_WORDS.findall(shorter.lower()))
    is_end = sentence.startswith(shorter[:-1]) and len(shorter) < len(sentence)
    is_list = is_end and any(mark in shorter for mark in ",;:")
    return is_list or any(cut[word] > 0 for word in _LIMITING)


def _front_to_end(sentence: str) -> str:
    found = _FRONTED.match(sentence)
    if not found:
        return sentence
    when, rest = found["when"], found["rest"]
    return f"{rest[0].upper()}{rest[1:]} {when[0].lower()}{when[1:]}."


def _without_bracket(sentence: str) -> str:
    return _BRACKETED.sub("", sentence)


def _without_relative(sentence: str) -> str:
    return _RELATIVE.sub("", sentence)


def _without_joined(sentence: str) -> str:
    """Return the sentence without a coordinated last clause."""
    at = max(sentence.rfind(joint) for joint in _JOINTS)
    is_long = _LEAST_LENGTH <= at < len(sentence) - _LEAST_LENGTH
    return f"{sentence[:at]}." if is_long and sentence.endswith(".") else sentence


def _with_other_dates(sentence: str) -> str:
    return _DATE.sub(r"\2 \1, \3", sentence)


def _with_digits(sentence: str) -> str:
    return _COUNT.sub(lambda found: str(_COUNTS.index(found[1]) + _LEAST_COUNT), sentence)


def _with_other_words(sentence: str, form: Form) -> str:
    agrees = form >= Form.COMPUTED
    forms = rewordings(agrees)

    def other(found: re.Match[str]) -> str:
        if form >= Form.EDITED and _may_be_name(found):
            return found.group()
        before, new = found["article"] or "", forms[found["word"]]
        return f"{_article(before, new, agrees) if agrees else before}{new}"

    return _rewordable(agrees).sub(other, sentence).replace("  ", " ")


def _may_be_name(found: re.Match[str]) -> bool:
    """Return whether a word may name something here: a value, a mode, an item of a list of them, or
    what is marked as a term.
    """
    before, behind = found.string[: found.start("word")], found.string[found.end("word") :]
    is_item = bool(_ITEM_BEFORE.search(before) and _ITEM_BEHIND.match(behind))
    return is_item or bool(_NAMES_BEFORE.search(before) or _NAMES_BEHIND.match(behind))


@cache
def rewordings(agrees: bool = True) -> MappingProxyType[str, str]:
    """Return words and phrases, each with another that means the same, if it `agrees` without
    those that may be another part of speech.
    """
    lines = (DATA / "rewordings_en.txt").read_text("utf-8").splitlines()
    rows = (line.split(" |") for line in lines if line and not line.startswith("#"))
    return MappingProxyType(
        {one: other.strip() for one, other, *starred in rows if not (agrees and starred)}
    )


@cache
def _rewordable(agrees: bool) -> re.Pattern[str]:
    longest_first = sorted(rewordings(agrees), key=len, reverse=True)
    words = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?P<article>[Aa]n? )?(?P<word>{words})(?![\w-])")
