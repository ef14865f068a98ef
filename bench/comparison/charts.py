"""Small SVG charts, legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #24292f }
.axis { stroke: #8c959f; stroke-width: 1 }
.grid { stroke: #8c959f; stroke-opacity: .25 }
.line { fill: none; stroke: #8c959f; stroke-width: 1.5 }
.c0 { fill: #0969da } .c1 { fill: #8c959f } .c2 { fill: #bc4c00 } .c3 { fill: #8250df }
.c4 { fill: none; stroke: #1a7f37; stroke-width: 2 } .c5 { fill: #bf8700 }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 } .title { fill: #f0f6fc }
  .c0 { fill: #58a6ff } .c2 { fill: #f0883e } .c3 { fill: #bc8cff } .c4 { stroke: #3fb950 }
  .c5 { fill: #d29922 }
}
</style>"""
PANEL, HEIGHT, LEFT, TOP, BOTTOM, GAP = 220, 190, 40, 30, 34, 44
RING = 4


@dataclass(frozen=True)
class Mark:
    """One point; `style` is the number of a colour, `RING` a ring. Those `joined` are a line."""

    label: str
    x: float
    y: float
    style: int
    joined: bool = False


def scatter(panels: Sequence[tuple[str, Sequence[Mark]]], x_label: str, y_label: str) -> str:
    """Panels side by side with common scales from 0; y is a share, 0-1."""
    most = max(mark.x for _, marks in panels for mark in marks) * 1.08
    width = LEFT + len(panels) * (PANEL + GAP)
    named = {mark.style: mark.label for _, marks in panels for mark in marks}
    body = [
        part
        for at, (title, marks) in enumerate(panels)
        for part in _panel(title, marks, LEFT + at * (PANEL + GAP), most)
    ]
    y = TOP + HEIGHT + BOTTOM
    body.append(f'<text x="{LEFT}" y="{y - 2}">{escape(x_label)} →; up: {escape(y_label)}</text>')
    x = LEFT
    for style, label in sorted(named.items()):
        body.append(f'<circle class="c{style}" cx="{x + 5}" cy="{y + 16}" r="5"/>')
        body.append(f'<text x="{x + 15}" y="{y + 20}">{escape(label)}</text>')
        x += 34 + 7 * len(label)
    return _svg(width, y + 32, body)


def _panel(title: str, marks: Sequence[Mark], left: float, most: float) -> list[str]:
    def x(value: float) -> float:
        return round(left + value / most * PANEL, 1)

    def y(value: float) -> float:
        return round(TOP + (1 - value) * HEIGHT, 1)

    parts = [f'<text class="title" x="{left}" y="{TOP - 12}">{escape(title)}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        kind = "axis" if share == 0 else "grid"
        parts.append(_line(kind, left, y(share), left + PANEL, y(share)))
        parts.append(f'<text x="{left - 4}" y="{y(share) + 4}" text-anchor="end">{share:g}</text>')
    for tick in range(0, int(most) + 1, 5):
        parts.append(
            f'<text x="{x(tick)}" y="{TOP + HEIGHT + 15}" text-anchor="middle">{tick}</text>'
        )
    path = " ".join(f"{x(mark.x)},{y(mark.y)}" for mark in marks if mark.joined)
    parts.append(f'<polyline class="line" points="{path}"/>')
    for mark in reversed(marks):
        told = f"{escape(mark.label)}: {mark.x:.1f}, {mark.y:.3f}"
        size = 4 if mark.joined else 9 if mark.style == RING else 6
        parts.append(
            f'<circle class="c{mark.style}" cx="{x(mark.x)}" cy="{y(mark.y)}" r="{size}">'
            f"<title>{told}</title></circle>"
        )
    return parts


def bars(rows: Sequence[tuple[str, float]], unit: str, mark: float = 1.0) -> str:
    """Horizontal bars with their values, and a line at `mark`."""
    most = max([mark, *(value for _, value in rows)]) * 1.1
    left, width, step = 250, 400, 26
    body = []
    for at, (label, value) in enumerate(rows):
        y, long = TOP + at * step, round(value / most * width, 1)
        body.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>')
        style = "c0" if label.startswith("Plumbline") else "c1"
        body.append(f'<rect class="{style}" x="{left}" y="{y}" width="{long}" height="18" rx="2"/>')
        body.append(f'<text x="{left + long + 6}" y="{y + 14}">{value:.2f}</text>')
    bottom = TOP + len(rows) * step
    at_mark = left + round(mark / most * width, 1)
    body.append(_line("axis", at_mark, TOP - 6, at_mark, bottom))
    body.append(f'<text x="{left}" y="{TOP - 14}">{escape(unit)}</text>')
    return _svg(left + width + 60, bottom + 10, body)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _svg(width: float, height: float, body: Sequence[str]) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    lines = "\n".join(body)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n{STYLE}\n{lines}\n</svg>\n'
