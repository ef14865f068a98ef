"""What a question compares: the things and the properties that it lists.

They are rows and columns that a model may forget or word otherwise. Names are recognised by their
capitals, so that this works for English and for languages that write nouns small, and in a list to
choose from without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from research.engine.text.tokens import STOP_WORDS, unique_texts

MOST_PROPERTIES, LONGEST_PROPERTY = 8, 7
LEAST_LISTED = 3
"""Names of a list that is compared wherever the question asks for a comparison; two of them have to
be chosen between.
"""
_WORD = r"[^\W\d_a-z](?:[\w'’-]|\.(?=\w))*"
_NAME = rf"{_WORD}(?: {_WORD})*"
_ARTICLE = r"(?:(?:an?|the|our|their) )"
_ITEM = rf"{_ARTICLE}?{_NAME}"
_NAMED = re.compile(_NAME)
_ITS_ARTICLE = re.compile(f"^{_ARTICLE}")
_AND = r",? (?:and|or|versus|vs\.?) "
# "a Brindamat, a Tilsen or the Harnow"
_RUN = re.compile(rf"(?<!\w){_ITEM}(?:(?:{_AND}|, ){_ITEM})*")
_BETWEEN = re.compile(rf"({_AND}|, )")
# "which of restic, Borg and duplicity": here names may be in small letters
_PLAIN = rf"{_ARTICLE}?(?:{_NAME}|[a-z][\w.-]{{1,30}})"
_OFFERED = re.compile(
    rf"\b(?i:which of|between|compare|from among)(?: the (?:programs|tools))? "
    rf"({_PLAIN}(?:, {_PLAIN}){{1,11}}{_AND}{_PLAIN})(?!\w)"
)
# "(Kelmar, Vintry)"
_BRACKETED = re.compile(r"\(([^()]{1,300})\)")
_ASKS = re.compile(
    r"\b(?:compar\w+|versus|vs|choos\w+|choice|decid\w+|between|which (?:of|one)|better|best"
    r"|rank\w*|each|differ\w*|advis\w+|recommend\w*|table)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(?:compar\w+|between|versus|vs|which|better|choos\w+)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"\b(?:also|too|as well|besides|in addition|plus|likewise|joined by|added)\b", re.IGNORECASE
)
_PLACED = re.compile(
    r"\b(?:in|(?<!look )at|near|from|by|since|until|during|on)(?: the)? $", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.?!]\s+")
_OPENING = re.compile(
    r"(?:(?<=[.?!:] )|^)(?:Compare|Between|Which|Is|Are|Was|Were|Do|Does|Did|Can|Should|Has|Have"
    r"|How|What|Why|When|Where|Who|If|In|For|Of|The|We|Our|My|I|Please|Choose|Both|And|Or) "
)
_BY = re.compile(
    r"\b(?:by|(?:should|must|to) (?:give|show|list|have)(?: for each(?: of them)?)?"
    r"|for each(?: of them)?|into a table|table (?:of|with))(?: the)? ([^.?!:;]+)",
    re.IGNORECASE,
)
_SPLIT = re.compile(r",\s*(?:(?:and|or)\s+)?|(?<!\s)\s+and\s+")
_LEAD = re.compile(r"^(?:the|their|its|a|an)\s+", re.IGNORECASE)
_NOT_ONE = re.compile(r"\b(?:table|best|one)\b", re.IGNORECASE)


@lru_cache(maxsize=200)
def compared_things(question: str) -> tuple[str, ...]:
    """Return the names that a question lists to compare them; () if it compares nothing. Those that
    it adds to the list afterwards ("also the Dovrin and the Orkmeer") follow.
    """
    if not _ASKS.search(question):
        return ()
    plain = _OPENING.sub(lambda match: match.group().lower(), question)
    for names, end in _listed(plain):
        if len(names) >= LEAST_LISTED or (len(names) == 2 and _CHOICE.search(question)):
            return tuple(unique_texts([*names, *_added(plain[end:])]))
    return ()


def _listed(question: str) -> Iterator[tuple[list[str], int]]:
    """Yield lists of at least two names and where they end: those that are to be chosen from, those
    in brackets, then those that "and" or "or" ends.
    """
    for offered in _OFFERED.finditer(question):
        names = [_ITS_ARTICLE.sub("", name) for name in _BETWEEN.split(offered[1])[::2]]
        if not STOP_WORDS.intersection(names):
            yield unique_texts(names), offered.end()
    for bracketed in _BRACKETED.finditer(question):
        names = bracketed.group(1).split(", ")
        if len(names) > 1 and all(_NAMED.fullmatch(name) for name in names):
            yield unique_texts(names), bracketed.end()
    for run in _RUN.finditer(question):
        parts = _BETWEEN.split(run.group())
        ends = next((n for n, part in enumerate(parts) if n % 2 and part != ", "), None)
        if ends is not None:
            names = [_ITS_ARTICLE.sub("", name) for name in parts[: ends + 2 : 2]]
            yield unique_texts(names), run.start() + len("".join(parts[: ends + 2]))


def _added(rest: str) -> Iterator[str]:
    """Yield the names that the rest of a sentence with a list, or the sentence behind it, adds: in
    a clause that says so, and behind no preposition of place or time.
    """
    for clause in re.split(r"[;:]\s", " ".join(_SENTENCE_END.split(rest, maxsplit=2)[:2])):
        if not _ADDS.search(clause):
            continue
        for run in _RUN.finditer(clause):
            if not _PLACED.search(clause[: run.start()]):
                names = (_ITS_ARTICLE.sub("", each) for each in _BETWEEN.split(run.group())[::2])
                yield from (name for name in names if not _ADDS.fullmatch(name))


@lru_cache(maxsize=200)
def compared_properties(question: str) -> tuple[str, ...]:
    """Return what the table of a comparison is to give for each thing; () where no list says it."""
    for found in _BY.finditer(question):
        named = (_LEAD.sub("", part.strip()) for part in _SPLIT.split(found.group(1)))
        kept = [
            part
            for part in unique_texts(named)
            if 0 < len(part.split()) <= LONGEST_PROPERTY and not _NOT_ONE.search(part)
        ]
        if len(kept) >= 2:
            return tuple(kept[:MOST_PROPERTIES])
    return ()
