"""Reads and writes `docs/benchmarks.md`: one section per suite, replaced individually."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
CHARTS = PAGE.parent / "charts"
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "suites"), undefined=StrictUndefined
)
HEAD = """# Measurements

Each section is written by the command that it names. Ratios and counts come first: seconds
wander from machine to machine, and from hour to hour. A section has the bars of the day on which
it was written; those that hold now are in `bench/bars.py`.
"""


def put_section(suite: str, markdown: str, order: Sequence[str], page: Path = PAGE) -> None:
    """Replace or insert the section of a suite; all other sections are unchanged."""
    sections = read_sections(page.read_text("utf-8") if page.exists() else "")
    sections[suite] = markdown.strip()
    names = sorted(sections, key=lambda name: order.index(name) if name in order else len(order))
    parts = (f"<!-- suite: {n} -->\n\n{sections[n]}\n\n<!-- end: {n} -->\n" for n in names)
    page.write_text("\n".join((HEAD, *parts)), "utf-8")


def read_sections(text: str) -> dict[str, str]:
    """Return sections by suite name."""
    found = re.findall(r"<!-- suite: (\w+) -->\n(.*?)\n<!-- end: \1 -->", text, re.DOTALL)
    return {name: body.strip() for name, body in found}


def rendered(template: str, **parts: object) -> str:
    """Render a template of `bench/suites`; a missing value is an error."""
    return TEMPLATES.get_template(template).render(**parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a Markdown table; columns after the first `texts` are right-aligned numbers."""
    lines = [head, [*["---"] * texts, *["---:"] * (len(head) - texts)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Return a general description of the machine, and whether it was busy."""
    cores = os.cpu_count() or 1
    told = f"{cores} cores, {platform.system()}, Python {platform.python_version()}"
    load = os.getloadavg()[0]
    return f"{told}; other work ran beside it" if load > cores + 1 else told
