"""Comparable features of a sentence: names, numbers, dates, negation, hedges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from research.engine.records import Fields
from research.engine.text.tokens import (
    STOP_WORDS,
    in_lower_case,
    normalise_space,
    split_tokens,
    unique_texts,
)

REACH = 5
MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
)
MONTH_NAME = re.compile(MONTH)
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.?\s+{MONTH}\.?(?:,?\s+\d{{4}})?\b"
    rf"|\b{MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b|\b{MONTH}\s+\d{{4}}\b"
    r"|\b(?:1[0-9]|20)\d{2}s?\b"
)
NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d+)(?:\.\d+)?(?!\w*\d)")
_ONES = dict(zip(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), range(1, 10),
    strict=True,
))  # fmt: skip
_TENS = dict(zip(
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    range(20, 100, 10), strict=True,
))  # fmt: skip
_TEENS = dict(zip(
    ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
     "eighteen", "nineteen"), range(10, 20), strict=True,
))  # fmt: skip
_VALUES = {"zero": 0, **_ONES, **_TEENS, **_TENS}
_NUMBER_WORD = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:-(?P<joined>{'|'.join(_ONES)})\b"
    rf"|\s(?P<apart>{'|'.join(_ONES)})\b(?!-))?|{'|'.join(_VALUES)})\b",
    re.IGNORECASE,
)
"""Up to ninety-nine: "twenty five" is one number, and "twenty one-way streets" are twenty."""
_CAPITAL = r"[A-Z0-9][\w'’&-]*(?:\.\w+)*"
_NAME = re.compile(
    r"(?:[\"“][^\"”]{2,60}[\"”])"
    rf"|\b(?:[A-Z]\.\s?)*{_CAPITAL}"
    rf"(?:(?:\s+(?:of|the|de|la|du|van|von|for|&|al)){{0,2}}\s+(?:[A-Z]\.\s?)*{_CAPITAL})*"
    r"|\b[a-z]+[A-Z]\w+|\b\w+(?:_\w+)+\b",
    re.UNICODE,
)
_AROUND = "\"“”'’.,;:- "
# "Tom HanksGeena Davis": between "s" and "G", not in "MacArthur", "iPhone" or "DeVito"
_RUN_TOGETHER = re.compile(r"(?<=[a-z]{3})(?<!\bMac)(?<!\bFitz)(?=[A-Z][a-z]{2})")
_LETTER = re.compile(r"[^\W\d_]")
_NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|merely|until)\b)"
    r"|no(?! (?:less|fewer|more|later|earlier|sooner) than\b)|never|none|neither|nor|cannot|without"
    r"|nobody|nothing|nowhere|hardly|\w+n['’]t|fails? to|failed to|lacks?|unable to|impossible"
    r"|denie[sd]|untrue|false)\b",
    re.IGNORECASE,
)
_UNCERTAIN = re.compile(
    r"\b(?:(?-i:may)|might|could|possibly|perhaps|probably|likely|suggests?|appears?|seems?|believed"
    r"|expected|planned|reportedly|allegedly|supposedly|preliminary)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\b(?:is|are|was|were|means|refers to|is called|are called|stands for)\s+(?:an?|the|any)?\b"
)
_UP = re.compile(
    r"\b(?:increas\w*|ris(?:e|es|ing|en)|rose|grow\w*|grew|higher|more|greater|larger|faster|above"
    r"|exceed\w*|gain\w*|improv\w*|strengthen\w*|longer|after|at least|a minimum of"
    r"|(?<!\ba )maximum)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:decreas\w*|fall(?:s|ing|en)?|fell|declin\w*|lower|less|fewer|smaller|slower|below|drop\w*"
    r"|los(?:e|es|t|ing)|reduc\w*|worsen\w*|weaken\w*|shorter|before|at most|a maximum of"
    r"|(?<!\ba )minimum)\b",
    re.IGNORECASE,
)


def find_numbers(text: str) -> tuple[str, ...]:
    """Numbers in a comparable form: `1,000.0` and `1000` are the same."""
    found = [plain_number(match.group()) for match in NUMBER.finditer(text)]
    found += [value for _, _, value in number_words(text)]
    return tuple(unique_texts(found))


def number_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Return the positions of numbers written as words, each with its value in digits."""
    for match in _NUMBER_WORD.finditer(text):
        words = match["tens"], match["joined"] or match["apart"]
        said = [word for word in words if word] or [match.group()]
        yield match.start(), match.end(), str(sum(_VALUES[in_lower_case(word)] for word in said))


def plain_number(text: str) -> str:
    plain = re.sub(r"[,\u202f\u00a0 ]", "", text).replace("−", "-")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def find_dates(text: str) -> tuple[str, ...]:
    return tuple(unique_texts(match.group() for match in _DATE.finditer(text)))


@lru_cache(maxsize=2048)
def find_names(text: str) -> tuple[str, ...]:
    """Return proper names, acronyms, identifiers and quoted titles, as written.

    A single capitalised word at the start of a sentence counts only if it also occurs within one,
    or can't be an ordinary word (has a digit, a dot or more capitals).
    """
    found = []
    for match in _NAME.finditer(text):
        name = _trim_name(match.group())
        start = match.start() + match.group().find(name)
        if _LETTER.search(name) and not (_opens_sentence(text, start) and _is_ordinary(name, text)):
            found.append(name)
    return tuple(unique_texts(found))


def written_names(text: str) -> tuple[str, ...]:
    """Return the names of a text with the function words that belong to them.

    `find_names` returns "League" for "A League of Their Own"; such a name is looked up as written.
    The opening of a sentence is left out: "When Edda Marlow came" yields Edda Marlow. Names that
    run together, like table cells without borders, are split.
    """
    found: list[str] = []
    for match in _NAME.finditer(text):
        name = _trim_name(match.group())
        start = match.start() + match.group().find(name)
        if _LETTER.search(name) and not (_opens_sentence(text, start) and _is_ordinary(name, text)):
            quoted = match.group()[0] in '"“'
            begin = start if _opens_sentence(text, match.start()) and not quoted else match.start()
            written = re.sub(r"['’]s$", "", text[begin : match.end()].strip(_AROUND))
            found += _RUN_TOGETHER.split(written) if " " in written else [written]
    return tuple(unique_texts(found))


def _trim_name(name: str) -> str:
    """Drop enclosing quotes, leading numbers and stop words, and trailing punctuation."""
    name = name.strip(_AROUND)
    name = re.sub(r"['’]s$", "", name)
    words, dated = name.split(), bool(_DATE.fullmatch(name))
    while words and (words[0].lower() in STOP_WORDS or (words[0].isdigit() and not dated)):
        words.pop(0)
    while words and words[-1].lower() in STOP_WORDS:
        words.pop()
    trimmed = " ".join(words)
    return trimmed if len(trimmed) > 1 else ""


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip("\"“'( ")
    return not before or before[-1] in ".!?:;\n"


def _is_ordinary(name: str, text: str) -> bool:
    if " " in name or not name[1:].islower():
        return False
    if text.count(name) < 2:
        return True
    return all(
        _opens_sentence(text, match.start())
        for match in re.finditer(rf"\b{re.escape(name)}\b", text)
    )


def is_negated(text: str) -> bool:
    return bool(_NEGATION.search(text))


def denied_words(text: str) -> list[str]:
    """Return the words in the scope of each negation: the next `REACH` content words, or all words
    if none follows.
    """
    found = []
    for match in _NEGATION.finditer(text):
        following = [w for w in split_tokens(text[match.end() :]) if w.lower() not in STOP_WORDS]
        found.append(" ".join(following[:REACH]) or text)
    return found


def is_uncertain(text: str) -> bool:
    """Return whether a text hedges: something may be so, rather than is."""
    return bool(_UNCERTAIN.search(text))


@lru_cache(maxsize=4096)
def change_direction(text: str) -> int:
    """1 where words of increase outweigh, -1 for decrease, 0 for neither or both."""
    up, down = len(_UP.findall(text)), len(_DOWN.findall(text))
    return (up > down) - (down > up)


def extract_fields(text: str) -> Fields:
    """Names, dates, numbers and definitions of a claim, by code."""
    definition = (normalise_space(text),) if _DEFINITION.search(text[:120]) else ()
    named = tuple(name for name in find_names(text) if not _DATE.fullmatch(name))
    return Fields(named, find_dates(text), find_numbers(text), definition)
