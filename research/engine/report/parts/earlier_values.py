"""Former values, rendered within the sentence that has the current value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.draft import Statement
from research.engine.report.parts.dating import MONTH, amounts_of, first_date
from research.engine.report.report_i18n import Labels
from research.engine.text.dates import without_dates
from research.engine.text.entities import number_words
from research.engine.text.tokens import STOP_WORDS, stem, term_set

_NUMBER = re.compile(r"(?:[$€£¥]\s?)?(?<![\w.,])\d+(?:[.,\u202f\u00a0]\d+)*(?:\s?[%€£$¥])?")
_WORDS = re.compile(r"(?:[\s-]+[^\W\d_]+){1,4}")
_WORD = re.compile(r"(?<![\s-])[\s-]+[^\W\d_]+")
_TELLS_ITSELF = re.compile(
    r"\b(?:used to|until|no longer|instead of|rather than|(?:down|up) from|previous(?:ly)?|formerly"
    r"|earlier|originally|replaced)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Quantity:
    """A number as it is written, with its sign, and the words behind it."""

    number: str
    following: tuple[str, ...]

    @property
    def sign(self) -> str:
        return re.sub(r"[\d.,\s]", "", self.number)


def tells_earlier_itself(sentence: str) -> bool:
    """Return whether an English sentence marks one of its values as a former one in words."""
    return bool(_TELLS_ITSELF.search(sentence))


def is_worded_as_earlier(said: Statement, values: Iterable[str], ledger: Ledger) -> bool:
    """Return whether a statement marks these former values in words: in English ones, or in those
    of claims from which alone a model could tell that the values are former ones.
    """
    if tells_earlier_itself(said.body):
        return True
    records, recalled = ledger.book.records, ledger.relations.recalled
    worded = {
        value for i in said.evidence if not records[i].is_dictated for value in recalled.get(i, ())
    }
    is_read = ledger.began >= Form.COMPUTED and not said.quoted
    return is_read and all(amounts_of(value) <= worded for value in values)


def tell_earlier(said: Statement, ledger: Ledger, words: Labels) -> str:
    """Return the values that a statement's own has replaced and that it doesn't give itself, each
    with its month; "" without.
    """
    told = []
    for record_id in said.earlier:
        record = ledger.book.records[record_id]
        value = value_beside(record.claim, said.body)
        if not value and ledger.began >= Form.COMPUTED:
            value = lone_value(record.claim, said.body)
        if value and not amounts_of(value) <= amounts_of(said.body):
            date = words.date(first_date(record)[:MONTH])
            told.append(", ".join(filter(None, (value, date))))
    return words["earlier"].format(values="; ".join(told)) if told else ""


def value_beside(text: str, other: str) -> str:
    """Return the one quantity of a text that another text gives otherwise, with as much of its unit
    as both write; "" where there is none, or several.
    """
    given = [*_quantities(other)]
    known = {each.number.strip().lower() for each in given}
    found = set[str]()
    for each in _quantities(text):
        unit = max((_shared_unit(each, one) for one in given), key=len, default="")
        is_alike = bool(unit) or any(each.sign and each.sign == one.sign for one in given)
        if is_alike and each.number.strip().lower() not in known:
            found.add(f"{each.number.strip()}{unit}")
    return found.pop() if len(found) == 1 else ""


def lone_value(text: str, other: str) -> str:
    """Return the only quantity of a text if another text has only one, and both count the same: at
    most one of them has what it counts behind it, and that is named in both.
    """
    mine, given = [*_quantities(text)], [*_quantities(other)]
    if len(mine) != 1 or len(given) != 1:
        return ""
    counted, others = _counted(mine[0]), _counted(given[0])
    noun = term_set(counted or others)
    is_same = not (counted and others) and noun <= term_set(text) & term_set(other)
    return f"{mine[0].number.strip()}{counted}" if is_same else ""


def _counted(quantity: _Quantity) -> str:
    """Return the word behind a number, unless it only goes on with the sentence."""
    first = next(iter(quantity.following), "")
    return "" if first.strip(" -\u00a0").lower() in STOP_WORDS else first


def with_unit(value: str, text: str) -> str:
    """Return a value of a text with as much of its unit as another quantity of the text shares."""
    every = [*_quantities(text)]
    for each in every:
        if value.startswith(each.number):
            others = (one for one in every if one.number != each.number)
            unit = max((_shared_unit(each, one) for one in others), key=len, default="")
            return max(value, f"{each.number}{unit}", key=len)
    return value


def _shared_unit(one: _Quantity, other: _Quantity) -> str:
    """Return the words that follow both numbers, whose singular and plural count as one."""
    pairs = zip(one.following, other.following, strict=False)
    return "".join(word for word, _ in takewhile(lambda pair: _is_unit(*pair), pairs))


def _is_unit(word: str, other: str) -> bool:
    one, two = (each.strip(" -\u00a0").lower() for each in (word, other))
    return one not in STOP_WORDS and stem(one) == stem(two)


def _quantities(text: str) -> Iterator[_Quantity]:
    plain = without_dates(text)
    spans = [match.span() for match in _NUMBER.finditer(plain)]
    spans += [(start, end) for start, end, _ in number_words(plain)]
    for start, end in sorted(spans):
        behind = _WORDS.match(plain, end)
        words = _WORD.findall(behind[0]) if behind else []
        yield _Quantity(plain[start:end], tuple(words))
