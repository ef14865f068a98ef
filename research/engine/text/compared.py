"""The things and properties that a question compares, as its own words list them.

A model names them as well; these are what it may forget or word otherwise. Names are recognised by
their capitals, so that this works for English and for languages that write nouns small.
"""

from __future__ import annotations

import re
from functools import lru_cache

from research.engine.text.tokens import unique_texts

MOST_PROPERTIES, LONGEST_PROPERTY = 8, 7
LEAST_LISTED = 3
"""Names of a list that is compared wherever the question asks for a comparison; two of them have to
be chosen between.
"""
_WORD = r"[^\W\d_a-z](?:[\w'’-]|\.(?=\w))*"
_NAME = rf"{_WORD}(?: {_WORD})*"
_ARTICLE = r"(?:(?:an?|the|our|their) )"
_ITEM = rf"{_ARTICLE}?{_NAME}"
# "(Kelmar, Vintry)", "a Brindamat, a Tilsen or the Harnow"
_LIST = re.compile(
    rf"(?<=\(){_NAME}(?:, {_NAME})+(?=\))|{_ITEM}(?:, {_ITEM})*,? (?:and|or|versus|vs\.?) {_ITEM}"
)
_ASKS = re.compile(
    r"\b(?:compar\w+|versus|vs|choos\w+|choice|decid\w+|between|which (?:of|one)|better|best"
    r"|rank\w*|each|differ\w*|advis\w+|recommend\w*|table)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(?:compar\w+|between|versus|vs|which|better|choos\w+)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:(?<=[.?!:] )|^)(?:Compare|Between|Which|Is|Are|Was|Were|Do|Does|Did|Can|Should|Has|Have"
    r"|How|What|Why|When|Where|Who|If|In|For|Of|The|We|Our|My|I|Please|Choose|Both|And|Or) "
)
_BY = re.compile(
    r"\b(?:by|(?:should|must|to) (?:give|show|list|have)(?: for each(?: of them)?)?"
    r"|for each(?: of them)?|into a table|table (?:of|with))(?: the)? ([^.?!:;]+)",
    re.IGNORECASE,
)
_SPLIT = re.compile(r",\s*(?:(?:and|or)\s+)?|\s+and\s+")
_LEAD = re.compile(r"^(?:the|their|its|a|an)\s+", re.IGNORECASE)
_NOT_ONE = re.compile(r"\b(?:table|best|one)\b", re.IGNORECASE)


@lru_cache(maxsize=200)
def compared_things(question: str) -> tuple[str, ...]:
    """Return the names that a question lists to compare them; () if it compares nothing."""
    if not _ASKS.search(question):
        return ()
    for found in _LIST.finditer(_OPENING.sub(lambda match: match.group().lower(), question)):
        named = re.split(r", (?:and |or )?| (?:and|or|versus|vs\.?) ", found.group())
        names = unique_texts(re.sub(rf"^{_ARTICLE}", "", name.strip()) for name in named)
        if len(names) >= LEAST_LISTED or (len(names) == 2 and _CHOICE.search(question)):
            return tuple(names)
    return ()


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
