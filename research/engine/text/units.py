"""Units of measurement: their spellings, and what one is in the base unit of its dimension.

`data/units_en.txt` has one unit a line. A rate ("km/h", "euros a month") has the dimension of a
quotient.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path


@dataclass(frozen=True)
class Unit:
    """A unit; `value * factor + offset` is a value of it in the base unit of `dimension`."""

    name: str = ""
    dimension: str = ""
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def to_base(self, value: Fraction) -> Fraction:
        """Return a value of this unit in the base unit of its dimension."""
        return value * self.factor + self.offset

    def per(self, other: Unit) -> Unit:
        """Return the rate of this unit to another one: "km" per "h"."""
        name = f"{self.name}/{other.name}"
        dimension = f"{self.dimension}/{other.dimension}"
        return Unit(name, dimension, self.factor / other.factor)


NO_UNIT = Unit()


def _read_units() -> dict[str, Unit]:
    lines = (Path(__file__).parent / "data" / "units_en.txt").read_text("utf-8").splitlines()
    units: dict[str, Unit] = {}
    for line in lines[1:]:
        dimension, factor, offset, *spellings = line.split()
        names = [spelling.replace("_", " ") for spelling in spellings]
        unit = Unit(names[0], dimension, Fraction(factor), Fraction(offset))
        units.update(dict.fromkeys(names, unit))
    return units


_UNITS = _read_units()
_SPELLED = "|".join(
    re.escape(name).replace(r"\ ", r"\s") for name in sorted(_UNITS, key=len, reverse=True)
)
_UNIT = re.compile(rf"({_SPELLED})(?![^\W_])", re.IGNORECASE)
_PER = re.compile(  # "/h", " per hectare", " a year", " of milk a day"
    rf"(?:\s(?:of|in)\s[^\W\d_]+)?(?:\s?/\s?|\s(?:per|an?|each|every)\s)({_SPELLED})(?![^\W_])"
    r"(?!\s(?:earlier|later|ago|(?:before|after)(?=[.,;]|$)|older|younger)\b)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"(US\$|[$€£¥]|\b(?:SFr|CHF|EUR|USD|GBP)\b)\.?\s?[-−]?$")
_SIGN_REACH = 5


def find_unit(word: str) -> Unit | None:
    """Return the unit of one spelling; None for a word that is none."""
    return _UNITS.get(" ".join(word.lower().split()))


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit that is spelled at this position, and its end."""
    match = _UNIT.match(text, position)
    unit = find_unit(match.group(1)) if match else None
    return (unit, match.end()) if unit and match else None


def rate_at(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the unit after "per", "a" or "/" at this position, and its end."""
    match = _PER.match(text, position)
    unit = find_unit(match.group(1)) if match else None
    return (unit, match.end()) if unit and match else None


def sign_before(text: str, position: int) -> tuple[Unit, int] | None:
    """Return the currency whose sign directly precedes a number, and the sign's position."""
    match = _SIGN.search(text, max(0, position - _SIGN_REACH), position)
    unit = find_unit(match.group(1)) if match else None
    return (unit, match.start()) if unit and match else None
