"""Features of a passage that predict whether it answers a question, mostly between 0 and 1.

`data/passage_model.json` has their weights, written by `python -m bench.fitting`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from research.engine.offline.passages.complete_passages import Passage, complete_passages
from research.engine.offline.questions.weighted_query import load_synonyms
from research.engine.ports import Page
from research.engine.text.tokens import split_terms, split_tokens, term_set

K1, B = 1.2, 0.5
ABOVE_COUNTS = 2
SHORT_HEADING = 3
"""Words of a heading that may be the name of what it is on."""
SHORT_PASSAGE = 6
"""Terms below which heading and title don't make a passage relevant."""
ENOUGH = 3
PRODUCT = 0.3
"""Weight of the name of a product that most pages mention."""
NEAR = 3
"""Places within which two neighbouring words of the question count as together."""
MOST_LOOKED_AT = 100
"""Passages of which every sign is read: those that say most of the words."""
IDENTIFIER = re.compile(
    r"(?<!\w)--?[a-zA-Z][\w-]+|(?<!\w)[^\W_]+(?:[_./:]+[^\W_]+)+(?:\(\))?|(?<!\w)\w+\(\)|\b[a-z]+[A-Z]\w*"
    r"|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*\b|\b\w+(?:-\w+)+\b|%\w+|\\\w+"
)
"""`autovacuum_max_workers`, `--no-shell`, `os.path`, `fprintf()`, `BasePath`, `nta-recheck`."""
_ASKS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(cue, re.IGNORECASE)
    for name, cue in {
        "number": r"\bhow (?:many|much|long|old|far|big|large|high|often|fast|deep)\b|\blimit"
        r"|\b(?:maximum|minimum|most|least|port|size|number)\b",
        "default": r"\bdefaults?\b|\bunless\b|\bout of the box\b|\bif (?:nothing|i|it|no)\b"
        r"|\bwithout (?:saying|setting|telling)\b"
        r"|\b(?:don't|do not|set|give|say) (?:no|any|nothing)\b",
        "version": r"\b(?:version|release)s?\b|\bsince when\b|\bup to when\b|\bhow long has\b",
        "rule": r"^how (?:does|do|is|are|did|was|were) (?!i\b|we\b|you\b|one\b).{0,200}?"
        r"\b(?:decide|determine|choose|chosen|select|know|calculate|compute)d?\b",
        "reason": r"\bwhy\b|\bwhat (?:is|was) the (?:reason|point|purpose)\b|\bwhat for\b",
        "meaning": r"^what (?:is|are)\b|\bmeans?\b|\bmeant by\b|\bcalled\b",
    }.items()
}
_ASKS_OF_ENTRIES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(cue, re.IGNORECASE)
    for name, cue in {
        "default": r"\b(?:initial|preset)\b|\bunset\b"
        r"|(?:\bnot|n[’']t) (?:\w+ )?(?:set|given|specified|configured)\b",
        "version": r"\bwhen (?:was|were|did)\b.{0,120}?"
        r"\b(?:add|introduc|appear|remov|deprecat|arriv)",
    }.items()
}
"""Other words of questions for a default or a version."""
_STATES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(cue, re.IGNORECASE)
    for name, cue in {
        "default": r"\bdefaults?(?: value)?(?::| (?:is|are|to|of)\b)|\b(?:by|the) default\b"
        r"|\bdefault \w+ (?:is|are)\b|^[^.:]{0,80}\bdefault\s",
        "version": r"\b(?:new|added|introduced|appeared|available) (?:in|since|as of|from)"
        r" (?:\w+ ){0,2}v?\d|\b(?:availability|since):? (?:\w+ )?v?\d",
    }.items()
}
"""Statements of the default or version of an entry. They count only where they are said of the
name that is asked for: a sibling's answers nothing.
"""
HEARSAY = 0.5
"""Weight of a statement that mentions the entry's name but isn't part of the entry."""
_BRINGS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(cue, re.IGNORECASE)
    for name, cue in {
        "number": r"\b\d+(?:[.,]\d+)*\b"
        r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b",
        "default": r"\bdefaults?\b|\bunless\b|\bomitted\b|\bnot (?:specified|given|set)\b",
        "version": r"\b(?:since|in|from|as of|prior to|before|until|with|starting \w+)"
        r" (?:\w+ ){0,2}v?\d+(?:\.\d+)+\b|\b(?:new|added|changed|deprecated|removed) in\b",
        "rule": r"\b(?:if|when|whenever|once|unless|as soon as)\b[^.;]{0,120}?\b(?:exceed|more than"
        r"|greater|larger|less than|fewer|smaller|at least|at most|reach|equal|match)"
        r"|\b(?:is|are) (?:defined|computed|calculated|given|determined|chosen|decided) (?:as|by)\b"
        r"|\w = \w",
        "reason": r"\b(?:because|since|so that|therefore|thus|hence|in order to|otherwise|reasons?"
        r"|due to|as a result|to (?:avoid|prevent|ensure|allow|make sure))\b",
        "meaning": r"\b(?:is|are) (?:an?|the|any)\b|\bmeans?\b|\brefers? to\b|\bstands for\b"
        r"|\b(?:called|known as)\b",
    }.items()
}

_GOES_ON = re.compile(r"[a-z]|[^.;:]{0,40}\balso\b")
"""A passage that opens with the rest of a rule, or with another one: `The table is also ...`."""


@dataclass(frozen=True)
class PassageSigns:
    """The signs of one passage, by name, for one question."""

    passage: Passage
    signs: Mapping[str, float]


class AskedText:
    """The parts of a question that the features use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.order = _order(text)
        self.terms = tuple(dict.fromkeys(split_terms(text)))
        found = IDENTIFIER.findall(text)
        is_name_alone = len(text.split()) == 1
        self.names = tuple(dict.fromkeys([*found, *([text.strip()] if is_name_alone else [])]))
        self.asks = tuple(
            name
            for name, cue in _ASKS.items()
            if cue.search(text)
            or ((further := _ASKS_OF_ENTRIES.get(name)) and further.search(text))
        )
        self.takes_version = _ASKS_OF_ENTRIES["version"].search(text) is not None
        plain = (word.strip("?.,:;!\"'“”‘’()").casefold() for word in text.split())
        self.words = tuple(
            word
            for word in dict.fromkeys(plain)
            if split_terms(word) and not any(cue.search(word) for cue in _ASKS.values())
        )

    def is_met_by(self, text: str) -> bool:
        """Return whether a text has a kind of statement that the question asks for."""
        return any(_share(kind, text) for kind in self.asks if kind not in {"number", "meaning"})


@lru_cache(maxsize=512)
def _order(text: str) -> tuple[str, ...]:
    """Return the first stem of each word, in order."""
    return tuple(found[0] for token in split_tokens(text) if (found := split_terms(token)))


@lru_cache(maxsize=256)
def passages_of(page: Page) -> tuple[_Counted, ...]:
    return tuple(_Counted(passage) for passage in complete_passages(page))


class _Counted:
    """A passage with its terms counted once for all questions."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        page = passage.page.text
        self.order = passage.terms
        self.counts = Counter(self.order)
        self.own = frozenset(self.counts) | term_set(
            page[slice(*passage.label)] if passage.label else ""
        )
        self.title = term_set(passage.page.title)
        self.held = frozenset(self.counts) | passage.above | self.title
        self.label = page[slice(*passage.label)].casefold() if passage.label else ""
        self.heading = passage.section.casefold()
        heads = self.heading.rpartition(" › ")[2]
        opening = (line.sentence.text.casefold() for line in passage.lines[:2])
        items = (text for text in opening if len(text.split()) <= SHORT_HEADING)
        self.entries = (self.label, heads, passage.page.title.casefold(), *items)
        self.text = passage.text
        self.lower = f"{self.heading} {self.text.casefold()}"

    def may_answer(self, wanted: Collection[str]) -> bool:
        """Return whether a passage has a term of the question, a short one in its own words.

        "Author: Rhea Lindqvist" says nothing about what its page's title is on.
        """
        terms = self.own if len(self.order) < SHORT_PASSAGE else self.held
        return not terms.isdisjoint(wanted)

    def stated(self, kind: str, names: Sequence[str]) -> float:
        """Return the degree (0-1) to which a default or version of a named entry is stated."""
        found = _STATES[kind]
        if any(_is_called(name, shown) for name in names for shown in self.entries):
            return 1.0 if found.search(self.text) else _share(kind, self.text)
        told = (line.sentence.text for line in self.passage.lines)
        beside = (text for text in told if any(name in text.casefold() for name in names))
        return HEARSAY * any(map(found.search, beside))

    def calls(self, name: str) -> bool:
        """Return whether the passage's defined term, or a short heading, names this."""
        shown = self.label or (self.heading if len(self.heading.split()) <= SHORT_HEADING else "")
        return name in shown and _is_called(name, shown)


class PassageRanking:
    """The passages of some pages, ranked for any number of questions."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.passages = [each for page in pages for each in passages_of(page)]
        self._holders: dict[str, int] = {}
        lengths = [len(each.order) for each in self.passages]
        self.mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self.pages = {page.url: place for place, page in enumerate(pages)}
        self._names: dict[str, list[str]] = {}

    def holders(self, term: str) -> int:
        """Return the number of passages with a term in their text, heading or title."""
        if term not in self._holders:
            self._holders[term] = sum(term in each.held for each in self.passages)
        return self._holders[term]

    def rarity(self, term: str) -> float:
        """Inverse document frequency, smoothed as in BM25."""
        count, total = self.holders(term), len(self.passages)
        return math.log(1 + (total - count + 0.5) / (count + 0.5))

    def signs(self, asked: AskedText) -> list[PassageSigns]:
        """Return the signs of every passage, in the pages' order."""
        weights = self._weights(asked)
        total = sum(weights.values()) or 1.0
        wanted = weights.keys()
        worth = [
            self._bm25(each, weights) / total if each.may_answer(wanted) else 0.0
            for each in self.passages
        ]
        pages: dict[str, float] = defaultdict(float)
        for each, value in zip(self.passages, worth, strict=True):
            url = each.passage.page.url
            pages[url] = max(pages[url], value)
        best = max(worth, default=0.0) or 1.0
        ranked = sorted(range(len(worth)), key=lambda at: -worth[at])[:MOST_LOOKED_AT]
        return [
            PassageSigns(each.passage, self._signs(each, asked, weights, value, best, pages))
            for at in sorted(ranked)
            if (value := worth[at]) and (each := self.passages[at])
        ]

    def _signs(
        self,
        each: _Counted,
        asked: AskedText,
        weights: Mapping[str, float],
        worth: float,
        best: float,
        pages: Mapping[str, float],
    ) -> dict[str, float]:
        passage, total = each.passage, sum(weights.values()) or 1.0
        whole = sum(w for term, w in weights.items() if term in each.held) / total
        above = sum(w for term, w in weights.items() if term in passage.above) / total
        lower = each.lower
        names = self._telling(asked)
        named = sum(name in lower for name in names) / len(names) if names else 1.0
        in_label = any(_is_called(name, each.label or each.heading) for name in names)
        ends = sum(line.sentence.text[-1:] in ".:;!?" for line in passage.lines)
        kinds_of = Counter(line.sentence.kind for line in passage.lines)
        size = len(passage.lines) or 1
        return {
            "words": worth,
            "words anywhere": whole,
            "synonyms": self._meant(each, weights) / total,
            "together": _together(asked.order, each.order),
            "heading asked": above,
            "named": named,
            "opens definition": float(in_label and passage.opens_section),
            "opens section": float(passage.opens_section),
            "best of page": worth / (pages[passage.page.url] or 1.0),
            "page": pages[passage.page.url] / best,
            "early page": 1 / (1 + self.pages[passage.page.url]),
            "code": kinds_of["code"] / size,
            "items": kinds_of["item"] / size,
            "sentences": ends / size,
            **{kind: self._worth(kind, asked, each, names, bool(named)) for kind in _ASKS},
        }

    def _worth(
        self, kind: str, asked: AskedText, each: _Counted, names: Sequence[str], is_named: bool
    ) -> float:
        """Return the degree (0-1) to which a passage contains the requested kind of thing."""
        if kind in _STATES and kind in asked.asks and names:
            return each.stated(kind, names)
        if kind in _STATES and not is_named:
            return 0.0
        return _brought(kind, asked, each.text)

    def _weights(self, asked: AskedText) -> dict[str, float]:
        """Return the rarity of each term; the name of a product weighs less, because its whole
        manual is about it.
        """
        telling = self._telling(asked)
        others = (name for name in asked.names if name.casefold() not in telling)
        product = {term for name in others for term in split_terms(name)}
        return {
            term: self.rarity(term) * (PRODUCT if term in product and self._is_common(term) else 1)
            for term in asked.terms
        }

    def _is_common(self, term: str) -> bool:
        """Return whether most pages have a term."""
        pages = {each.passage.page.url for each in self.passages if term in each.held}
        return 2 * len(pages) > len(self.pages) > 1

    def _telling(self, asked: AskedText) -> list[str]:
        """Return the names in the question that a term or short heading uses; the name of a product
        is left out, because its whole manual is about it.
        """
        if asked.text not in self._names:
            names = [name.casefold() for name in asked.names]
            self._names[asked.text] = [
                name for name in names if any(each.calls(name) for each in self.passages)
            ]
            if not self._names[asked.text] and not _STATES.keys().isdisjoint(asked.asks):
                entries = {_last_part(name) for each in self.passages for name in each.entries}
                self._names[asked.text] = [word for word in asked.words if word in entries]
        return self._names[asked.text]

    def _bm25(self, each: _Counted, weights: Mapping[str, float]) -> float:
        above, length = each.passage.above, len(each.order)
        norm = K1 * (1 - B + B * length / self.mean)
        value = 0.0
        for term, weight in weights.items():
            count = each.counts[term] + ABOVE_COUNTS * (term in above) + (term in each.title) / 2
            value += weight * count / (count + norm)
        return value

    def _meant(self, each: _Counted, weights: Mapping[str, float]) -> float:
        """Return the weight of the terms that only a synonym or a derivation matches."""
        missing = [term for term in weights if term not in each.held]
        return sum(weights[t] for t in missing if load_synonyms().get(t, frozenset()) & each.held)


def _brought(kind: str, asked: AskedText, text: str) -> float:
    """Return the degree (0-1) to which a passage contains the requested kind of thing."""
    if kind not in asked.asks:
        return 0.0
    share = _share(kind, text)
    return share / 2 if kind == "rule" and _GOES_ON.match(text) else share


def _share(kind: str, text: str) -> float:
    return min(ENOUGH, len(_BRINGS[kind].findall(text))) / ENOUGH


def _last_part(name: str) -> str:
    """Return the name of an entry without what it is: `System variable: arrays`."""
    return name.rpartition(": ")[2]


def _is_called(name: str, label: str) -> bool:
    """Return whether a heading or defined term contains this name among other words."""
    at = label.find(name)
    while at >= 0:
        before, behind = label[at - 1 : at], label[at + len(name) : at + len(name) + 1]
        if not (
            before.isalnum()
            or behind.isalnum()
            or (before in "_-" and before)
            or (behind in "_-" and behind)
        ):
            return True
        at = label.find(name, at + 1)
    return False


def _together(asked: Sequence[str], order: Sequence[str]) -> float:
    """Return the share of neighbouring words of the question that occur near each other."""
    pairs = list(pairwise(asked))
    if not pairs:
        return float(bool(asked) and asked[0] in order)
    places: dict[str, list[int]] = defaultdict(list)
    wanted = set(asked)
    for place, term in enumerate(order):
        if term in wanted:
            places[term].append(place)
    near = sum(
        any(abs(a - b) <= NEAR for a in places[one] for b in places[other]) for one, other in pairs
    )
    return near / len(pairs)
