"""Labels of a report in the language of its question (rule F11).

What nobody translated is said in English: a report in another language keeps its own sentences
and gets English words around them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from research.engine.records import StopReason
from research.engine.text.language import ENGLISH

_DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?:-(\d\d))?")
_NO_NEWS = {StopReason.STUCK, StopReason.NO_NOVELTY, StopReason.DIMINISHING_QUALITY}
_ENOUGH = {
    StopReason.QUALITY_MET,
    StopReason.NO_GAPS,
    StopReason.TREE_COMPLETE,
    StopReason.KNOWN_BEFORE,
}


@dataclass(frozen=True)
class Labels:
    """The words of one language; `language` is an ISO 639-1 code."""

    language: str
    words: Mapping[str, Any]

    def __getitem__(self, key: str) -> str:
        return str(self.words[key])

    def count(self, key: str, number: int, **values: str) -> str:
        """`1 site`, `2 sites`."""
        one, several = self.words[key]
        return str(one if number == 1 else several).format(n=number, **values)

    def date(self, day: str) -> str:
        """`17 April 2021`, `April 2021`, `2021`: a day, month or year of ISO 8601."""
        known = _DAY.fullmatch(day)
        if known is None:
            return day
        year, month, number = known.groups()
        name = self.words["months"][int(month) - 1]
        form = self["day_of_month" if number else "month_of_year"]
        return form.format(year=year, month=name, day=int(number or 1))

    def ended(self, reason: StopReason | None, sentence: str) -> str:
        """Return why research ended; the English `sentence` is more specific."""
        if self.language == ENGLISH or reason is None:
            return sentence.rstrip(".")
        if reason in _ENOUGH:
            return self["ended_enough"]
        if reason in _NO_NEWS:
            return self["ended_no_news"]
        if reason is StopReason.NOTHING_FOUND:
            return self["ended_nothing"]
        if reason is StopReason.PAGES_UNREADABLE:
            return self["ended_unreadable"]
        asked = reason in {StopReason.USER_STOPPED, StopReason.CANCELLED}
        return self["ended_asked" if asked else "ended_limit"]


def labels_for(language: str) -> Labels:
    """Return the labels for the primary subtag of a BCP 47 code, English by default."""
    first = language.lower().replace("_", "-").partition("-")[0]
    known = _load_catalogue()
    code = first if first in known else ENGLISH
    return Labels(code, known[code])


def translated_languages() -> frozenset[str]:
    return frozenset(_load_catalogue())


@cache
def _load_catalogue() -> MappingProxyType[str, MappingProxyType[str, str | tuple[str, ...]]]:
    """Return the labels by language; those that count something have a singular and a plural, and
    the months are twelve.
    """
    listed = tomllib.loads((Path(__file__).parent / "data" / "labels.toml").read_text("utf-8"))
    return MappingProxyType(
        {
            code: MappingProxyType(
                {key: text if isinstance(text, str) else tuple(text) for key, text in words.items()}
            )
            for code, words in listed.items()
        }
    )
