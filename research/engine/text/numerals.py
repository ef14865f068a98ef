"""Numbers as texts write them: digits in several styles, words, fractions, scales and shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from research.engine.text.tokens import in_lower_case

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {
    "zero": 0,
    **{word: number for number, word in enumerate((*_ONES, *_TEENS), 1)},
    **{word: number for number, word in zip(range(20, 100, 10), _TENS, strict=True)},
}
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "tn": 10**12, "dozen": 12,
}  # fmt: skip
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "fifteenth": 15, "twentieth": 20,
    "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
_VULGAR = {
    "½": Fraction(1, 2), "⅓": Fraction(1, 3), "⅔": Fraction(2, 3), "¼": Fraction(1, 4),
    "¾": Fraction(3, 4), "⅕": Fraction(1, 5), "⅖": Fraction(2, 5), "⅗": Fraction(3, 5),
    "⅘": Fraction(4, 5), "⅙": Fraction(1, 6), "⅛": Fraction(1, 8), "⅜": Fraction(3, 8),
    "⅝": Fraction(5, 8), "⅞": Fraction(7, 8), "⅒": Fraction(1, 10),
}  # fmt: skip
_MULTIPLES = {
    "once": 1, "twice": 2, "double": 2, "doubled": 2, "doubling": 2, "doubles": 2, "twofold": 2,
    "triple": 3, "tripled": 3, "threefold": 3, "thrice": 3, "fourfold": 4, "fivefold": 5,
    "tenfold": 10,
}  # fmt: skip
_HALVED = frozenset(("halved", "halving", "halves"))

LONGEST_NUMBER = 1_000
"""Characters of a number; what is longer is no quantity, and Python refuses 4,300 digits."""
_SPACE = " \u00a0\u202f"
_TENS_AND_ONES = (
    rf"(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES)})\b|\s(?:{'|'.join(_ONES)})\b(?!-))"
)
_SMALL = rf"(?:{_TENS_AND_ONES}|{'|'.join(_WORDS)})"
_HUNDREDS = rf"(?:(?:{_SMALL}|an?)\shundred(?:\s(?:and\s)?{_SMALL})?|{_SMALL})"
_DIGITS = re.compile(  # "1,000.5", "1.000,5", "31 406", "10½", "½", "−44"
    r"(?<![\w.])(?<!\d,)(?P<sign>[-−])?(?:"
    rf"(?P<english>\d{{1,3}}(?:[,{_SPACE}’']\d{{3}})+(?:\.\d+)?)"
    r"|(?P<european>\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|\d+,\d{1,2}(?!\d))"
    rf"|(?P<plain>\d+(?:\.\d+)?))(?P<vulgar>[{''.join(_VULGAR)}])?(?![.,]?\d)"
    rf"|(?P<alone>[{''.join(_VULGAR)}])"
)
_WORD = re.compile(
    rf"\b(?:{_HUNDREDS}\sthousand\s(?:and\s)?{_HUNDREDS}|{_HUNDREDS})\b", re.IGNORECASE
)
_HALF_MORE = re.compile(r"\s(?:and\sa\s(?P<part>half|quarter|third))\b", re.IGNORECASE)
_SCALE = re.compile(r"[\s-]?(?P<word>hundred|thousand|million|billion|trillion|dozen)s?\b", re.I)
_SCALE_SIGN = re.compile(r"\s?(?P<word>bn|mn|mio|tn|[km])\b\.?", re.IGNORECASE)
_FRACTION = re.compile(  # "two thirds", "a quarter", "nine-tenths", "3 quarters"
    rf"\b(?P<over>an?|{'|'.join(_ONES)}|\d{{1,2}})[\s-](?P<part>{'|'.join(_PARTS)})(?P<plural>s)?\b"
    r"(?!\s(?:time|person|act|place|year|day|round|trial|party|company)\b)",
    re.IGNORECASE,
)
_HALF = re.compile(r"\bhalf\b(?!\sa\sdozen\b)", re.IGNORECASE)
_NO_SHARE = re.compile(  # "a half" is counted as a fraction, "two and a half" with its number
    r"(?:\ban?|\b(?:first|second|other|latter|upper|lower|better|bigger|each))\s$", re.IGNORECASE
)
LONGEST_PART = 16
_PART_BEFORE = re.compile(rf"\b(?:{'|'.join(_PARTS)})s?\sand\s$")
"""As in "a fifth and a quarter"."""
_AND_A_PART = re.compile(  # "a length and a quarter"
    rf"\b(?:an?|one)\s(?!(?:{'|'.join(_PARTS)})\b)[^\W\d_]+\sand\sa\s(?P<part>half|quarter|third)\b",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(rf"\b(?:{'|'.join((*_MULTIPLES, *_HALVED))})\b", re.IGNORECASE)
_DOZEN = re.compile(r"\b(?P<half>half\s)?(?:an?|the)\sdozen\b", re.IGNORECASE)
_SHARE = re.compile(  # "in 10", "in every 100", "trips out of five", "of the 206 patients"
    r"(?:\s[^\W\d_]+)?\s(?:in(?:\severy)?|of\severy|out\sof(?:\severy)?)\s(?=\d|[a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Numeral:
    """A number at `text[start:end]`.

    `step` is the value of one unit in its last digit, 0 if it is exact. `kind` distinguishes
    counts, fractions, multiples and shares ("1 in 10").
    """

    start: int
    end: int
    value: Fraction
    step: Fraction
    kind: str = "number"
    scale: int = 1


def find_numerals(text: str, money: frozenset[int] = frozenset()) -> list[Numeral]:
    """Return the numbers of a text in order. `money` are starts of numbers after a currency sign,
    for which "m" means million.
    """
    found = [*_fractions(text), *_multiples(text)]
    taken = [(each.start, each.end) for each in found]
    for each in (*_digits(text), *_words(text)):
        if not any(start < each.end and each.start < end for start, end in taken):
            found.append(_scaled(text, each, each.start in money))
    found += _shares(text, found)
    return sorted(found, key=lambda each: (each.start, each.end))


def _digits(text: str) -> Iterator[Numeral]:
    for match in _DIGITS.finditer(text):
        if match.end() - match.start() > LONGEST_NUMBER:
            continue
        if match["alone"]:
            yield Numeral(match.start(), match.end(), _VULGAR[match["alone"]], Fraction(0))
            continue
        written = _plain(match)
        _, _, decimals = written.partition(".")
        value, step = Fraction(written), Fraction(1, 10 ** len(decimals))
        if match["vulgar"]:
            value, step = value + _VULGAR[match["vulgar"]], Fraction(0)
        yield Numeral(match.start(), match.end(), -value if match["sign"] else value, step)


def _plain(match: re.Match[str]) -> str:
    """Return the digits with at most a full stop before the decimals."""
    if match["european"]:
        return match["european"].replace(".", "").replace(",", ".")
    return re.sub(rf"[,{_SPACE}’']", "", match["english"] or match["plain"])


def _words(text: str) -> Iterator[Numeral]:
    for match in _WORD.finditer(text):
        yield Numeral(match.start(), match.end(), Fraction(_word_value(match[0])), Fraction(1))


def _word_value(written: str) -> int:
    """Return the value of "two hundred and six thousand five hundred" and its parts."""
    total = part = 0
    for word in re.findall(r"[a-z]+", in_lower_case(written)):
        if word == "thousand":
            total, part = total + (part or 1) * 1000, 0
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            part += _WORDS.get(word, 0)
    return total + part


def _scaled(text: str, numeral: Numeral, is_money: bool) -> Numeral:
    """Return the number with "and a half" and its scale, as in "two and a half million", "3.8m"."""
    if more := _HALF_MORE.match(text, numeral.end):
        value = numeral.value + Fraction(1, _PARTS[in_lower_case(more["part"])])
        numeral = replace(numeral, value=value, step=Fraction(0), end=more.end())
    scale = _SCALE.match(text, numeral.end) or _sign_of_scale(text, numeral, is_money)
    if scale is None:
        return numeral
    factor = _SCALES[in_lower_case(scale["word"])]
    return replace(
        numeral,
        value=numeral.value * factor,
        step=numeral.step * factor,
        end=scale.end(),
        scale=factor,
    )


_MONEY_AFTER = re.compile(
    r"m\s(?:euros?|dollars?|pounds?|francs?|crowns?|marks?|yen)\b", re.IGNORECASE
)


def _sign_of_scale(text: str, numeral: Numeral, is_money: bool) -> re.Match[str] | None:
    """ "bn" or "k" always, "m" of money only: elsewhere it means metres."""
    found = _SCALE_SIGN.match(text, numeral.end)
    if found is None or text[numeral.start : numeral.end][-1:].isalpha():
        return None
    if found["word"].lower() != "m":
        return found
    return found if is_money or _MONEY_AFTER.match(text, numeral.end) else None


def _fractions(text: str) -> Iterator[Numeral]:
    for match in _FRACTION.finditer(text):
        over = in_lower_case(match["over"])
        several = over not in {"a", "an", "one", "1"}
        if several != bool(match["plural"]) or _goes_on(text, match):
            continue
        number = _WORDS.get(over) or (int(over) if over.isdigit() else 1)
        value = Fraction(number, _PARTS[in_lower_case(match["part"])])
        yield Numeral(match.start(), match.end(), value, Fraction(0), "fraction")
    for match in _AND_A_PART.finditer(text):
        value = 1 + Fraction(1, _PARTS[in_lower_case(match["part"])])
        yield Numeral(match.start(), match.end(), value, Fraction(0))
    for match in _HALF.finditer(text):
        if not _preceded(text, match.start()):
            yield Numeral(match.start(), match.end(), Fraction(1, 2), Fraction(0), "fraction")


def _preceded(text: str, start: int) -> bool:
    """Return whether a preceding number or article makes "half" part of a longer fraction."""
    return bool(_NO_SHARE.search(text, max(0, start - 8), start))


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Return whether this is the end of "two and a half"."""
    is_article = in_lower_case(match["over"]) in {"a", "an"}
    before = text[max(0, match.start() - LONGEST_PART) : match.start()].lower()
    return is_article and before.endswith("and ") and not _PART_BEFORE.search(before)


def _multiples(text: str) -> Iterator[Numeral]:
    for match in _MULTIPLE.finditer(text):
        word = in_lower_case(match[0])
        if word in _HALVED:
            yield Numeral(match.start(), match.end(), Fraction(1, 2), Fraction(0), "fraction")
        else:
            value = Fraction(_MULTIPLES[word])
            yield Numeral(match.start(), match.end(), value, Fraction(0), "multiple")
    for match in _DOZEN.finditer(text):
        count = 6 if match["half"] else 12
        yield Numeral(match.start(), match.end(), Fraction(count), Fraction(1))


def _shares(text: str, numbers: list[Numeral]) -> Iterator[Numeral]:
    """ "1 in 10", "two trips out of five": one number over the next."""
    at = {each.start: each for each in numbers if each.kind == "number"}
    for each in at.values():
        link = _SHARE.match(text, each.end)
        below = at.get(link.end()) if link else None
        if below and below.value > each.value > 0 and _is_share(text, each, below):
            share = each.value / below.value
            yield Numeral(each.start, below.end, share, Fraction(0), "share")


def _is_share(text: str, over: Numeral, below: Numeral) -> bool:
    """ "In 1990" and "two in 2019" are no shares."""
    link = text[over.end : below.start].split()
    return below.value <= 1000 or "out" in link or "every" in link


# --- other languages ------------------------------------------------------------------

_WORDS_OF_NUMBERS = (
    (re.compile(r"\beine?r?(?=\s(?:Million|Milliarde)\b)", re.IGNORECASE), "1"),
    (re.compile(r"\banderthalb\b", re.IGNORECASE), "1.5"),
    (re.compile(r"(?<=\d)\s?(?:Prozent|pour cent|por ciento|per cento|por cento|procent)\b"), "%"),
    (re.compile(r"(?<=\d)\s(?:Tausend|tausend|mille|mil|mila|duizend)\b"), " thousand"),
    (re.compile(r"(?<=\d)\s(?:Million(?:en)?|Mio\b\.?|mil(?:lones|ioni|hões|joen))"), " million"),
    (re.compile(r"(?<=\d)\s(?:Milliarden?|Mrd\b\.?|milliards|miliardi|miljard)"), " billion"),
)  # fmt: skip
_GERMAN_TO_NINETEEN = (
    "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf",
    "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
_GERMAN_TENS = (
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
)  # fmt: skip
_GERMAN = {
    **{word: n for n, word in enumerate(_GERMAN_TO_NINETEEN, 1)},
    **{ten: 10 * n for n, ten in enumerate(_GERMAN_TENS, 2)},
    **{
        f"{one}und{ten}": 10 * tens + ones
        for tens, ten in enumerate(_GERMAN_TENS, 2)
        for ones, one in enumerate(_GERMAN_TO_NINETEEN[:9], 1)
    },
}
_GERMAN_SMALL = "|".join(sorted(_GERMAN, key=len, reverse=True))
_GERMAN_WORD = re.compile(  # "vierzig", "zweihundertfünfzig", "dreitausend", "zweieinhalb"
    rf"(?<!\d\s)\b(?=\w)(?!ein\b)(?:(?P<thousands>{_GERMAN_SMALL})?(?P<thousand>tausend)(?:und)?)?"
    rf"(?:(?P<hundreds>{_GERMAN_SMALL})?(?P<hundred>hundert)(?:und)?)?"
    rf"(?P<rest>{_GERMAN_SMALL})?(?P<half>einhalb)?\b(?<=\w)",
    re.IGNORECASE,
)
_THIN_SPACE = re.compile(r"(?<=\d)[\u2009\u2008](?=\d{3}\b)")
_GROUPED = re.compile(r"(?<=\d)\.(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")


def in_english(text: str) -> str:
    """Return a text with the words behind its numbers, and German ones as digits, in English."""
    text = _GERMAN_WORD.sub(_in_digits, _THIN_SPACE.sub(" ", text))
    for word, english in _WORDS_OF_NUMBERS:
        text = word.sub(english, text)
    return text


def _in_digits(word: re.Match[str]) -> str:
    thousands, hundreds, rest = (
        _GERMAN.get((word[part] or "").lower(), default)
        for part, default in (("thousands", 1), ("hundreds", 1), ("rest", 0))
    )
    number = 1000 * thousands * bool(word["thousand"]) + 100 * hundreds * bool(word["hundred"])
    return f"{number + rest}{'.5' if word['half'] else ''}"


def from_continental(text: str) -> str:
    """Return a text whose numbers have full stops between thousands, and decimal commas, in the
    English way.
    """
    return _DECIMAL.sub(".", _GROUPED.sub("", in_english(text)))


def is_continental(text: str) -> bool:
    """Return whether a text has numbers with full stops between thousands, or decimal commas."""
    return bool(_GROUPED.search(text) or _DECIMAL.search(text))
