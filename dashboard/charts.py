"""Bar charts of a report's tables: one for each column of three or more comparable numbers.

A chart is drawn as SVG, since it needs no script, and repeats nothing but its table. Its colors
hold on light and dark pages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from unicodedata import east_asian_width

from django.utils.html import escape

from research.engine.report.report_i18n import labels_for
from research.engine.text.quantities import parse_value

LEAST_BARS, MOST_BARS, MOST_CHARTS = 3, 12, 3
LONGEST_VALUE = 6
"""Words of a cell that is a value and no sentence."""
LABEL_LENGTH, VALUE_LENGTH = 24, 22
"""Most columns of a label and of a value; a wide character takes two."""
WIDTH, ROW, BAR = 480, 40, 8
"""Sizes in the units of the drawing: its width, the height of a row, and that of the bar in it,
which stands below its label and its value.
"""


@dataclass(frozen=True)
class Chart:
    """A drawing, and the name of what it shows: the table beside it has the values."""

    svg: str
    name: str


@dataclass(frozen=True)
class _Bar:
    label: str
    value: str
    amount: Decimal


def draw_charts(rows: Sequence[Sequence[str]], language: str) -> tuple[Chart, ...]:
    """Return the charts of a table, given as the texts of its cells with the header first. Numbers
    are read as the report's language writes them. How many sources support a row is no chart, nor
    are the values of different things that have changed.
    """
    if not rows:
        return ()
    words = labels_for(language)
    left_out = {words[key] for key in ("support", "before", "now")}
    columns = [n for n, name in enumerate(rows[0]) if n and name not in left_out]
    found = ((rows[0][column], [*_bars(rows[1:], column, language)]) for column in columns)
    drawn = [_draw(name, bars) for name, bars in found if LEAST_BARS <= len(bars) <= MOST_BARS]
    return tuple(drawn[:MOST_CHARTS])


def _bars(rows: Sequence[Sequence[str]], column: int, language: str) -> Iterator[_Bar]:
    """Yield a bar for each number of a column; none if they don't all measure the same."""
    found, measures = [], set()
    for row in rows:
        value = row[column].strip() if column < len(row) else ""
        amounts = parse_value(value, language)
        if not amounts:
            continue
        if len(amounts) > 1 or len(value.split()) > LONGEST_VALUE:
            return
        measures.add(amounts[0].measures)
        found.append(_Bar(row[0].strip(), value, Decimal(amounts[0].value)))
    if len(measures) == 1 and measures != {""} and all(bar.amount >= 0 for bar in found):
        yield from found if any(bar.amount for bar in found) else ()


def _draw(name: str, bars: Sequence[_Bar]) -> Chart:
    most = max(bar.amount for bar in bars)
    lines = []
    for place, bar in enumerate(bars):
        top = place * ROW + 22
        width = round(float(bar.amount / most) * WIDTH, 1)
        label, value = _cut(bar.label, LABEL_LENGTH), _cut(bar.value, VALUE_LENGTH)
        lines += [
            f'<text y="{top - 7}">{escape(label)}</text>',
            f'<text x="{WIDTH}" y="{top - 7}" text-anchor="end">{escape(value)}</text>',
            f'<rect y="{top}" width="{WIDTH}" height="{BAR}" rx="4" opacity="0.1"/>',
            f'<rect y="{top}" width="{width}" height="{BAR}" rx="4" fill="#358a8f"/>',
        ]
    height = len(bars) * ROW
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{escape(name)}" font-family="sans-serif" '
        f'font-size="15" fill="currentColor">{"".join(lines)}</svg>'
    )
    return Chart(svg, name)


def _cut(text: str, most: int) -> str:
    """Return a text that takes at most so many columns."""
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in text))
    return text if not ends or ends[-1] <= most else text[: bisect_left(ends, most)].rstrip() + "…"
