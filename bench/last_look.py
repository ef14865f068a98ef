"""Whether a last look finds what read pages tell of the points that a report leaves open.

    .venv/bin/python -m bench.last_look                  # the points for tuning
    .venv/bin/python -m bench.last_look --part held_out  # once, when nothing will be changed

`bench/questions/last_look.jsonl` has points with their sub-questions over pages of the PostgreSQL
and Python manuals (Debian's postgresql-doc-15 and python3.11-doc), about half of them told there in
other words. All points on a manual are of one run, which has read the pages named with any of
them, and are asked in calls of at most `MOST_OPEN`.

Found is a told point if a passage that is shown for it holds a literal of its answer. A false alarm
is an untold point for which passages are shown: it costs tokens, and the model has to reject them.
`hidden` are told points whose answer a reading of the pages for the sub-question shows the model in
no sentence. `--misses` names the told points that are not found.

The words beside a point are such as its author adds for this search; `--plain` leaves them out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from bench.documentation import MANUALS
from bench.manuals import normalise, read_rows
from research.engine.budget.meter import tokens_of
from research.engine.llm_tasks.prompting.ask import render_template
from research.engine.llm_tasks.prompting.fences import Fences
from research.engine.llm_tasks.prompting.prompt_pages import PromptPage, number_sentences
from research.engine.offline.passages.complete_passages import Passage
from research.engine.offline.passages.open_points import closest_passages
from research.engine.ports import Page
from research.engine.records import Aspect, OpenPoint
from research.engine.report.checking.look_again import EDITED_LOOK, closest_sentences
from research.engine.report.report_format import MOST_OPEN
from research.engine.untrusted.address_wall import AddressWall
from research.extract.extract import extract_text

POINTS = Path(__file__).parent / "questions" / "last_look.jsonl"
PARTS = ("tuning", "held_out")


@dataclass(frozen=True)
class Looked:
    """A point: whether passages are shown for it, whether one tells it, and whether a reading of
    the pages shows what tells it; None for an untold point.
    """

    text: str
    is_shown: bool
    is_found: bool | None
    is_hidden: bool | None


@dataclass(frozen=True)
class Measured:
    """The points of a part, and the calls and tokens of prompts that they take."""

    looked: Sequence[Looked]
    calls: int
    tokens: int

    def count(self, *, found: bool | None) -> int:
        return sum(each.is_found is found for each in self.looked)


def measure(part: str, is_plain: bool = False) -> Measured:
    looked: list[Looked] = []
    calls = tokens = 0
    rows = [row for row in read_rows(POINTS) if row["part"] == part]
    rows = [row | {"words": ""} for row in rows] if is_plain else rows
    for name in dict.fromkeys(row["set"] for row in rows):
        of_run = [row for row in rows if row["set"] == name]
        urls = dict.fromkeys(url for row in of_run for url in row["pages"])
        pages = [page_of(name, url) for url in urls]
        for start in range(0, len(of_run), MOST_OPEN):
            asked = of_run[start : start + MOST_OPEN]
            points = [(f"{row['point']} {row['words']}", row["sub_question"]) for row in asked]
            found = closest_passages(pages, points)
            looked += [_looked(*each, pages) for each in zip(asked, found, strict=True)]
            size = _prompt_tokens(asked, pages)
            calls, tokens = calls + bool(size), tokens + size
    return Measured(looked, calls, tokens)


@cache
def page_of(manual: str, name: str) -> Page:
    """Return a page of a manual as it is stored."""
    url = f"https://{manual}.example/{name}"
    found = extract_text((MANUALS[manual] / name).read_bytes(), "text/html", url)
    return Page.from_text(url, found.text, found.title, fetched_at=datetime(2026, 3, 1, tzinfo=UTC))


def _looked(row: dict[str, Any], shown: Sequence[Passage], pages: Sequence[Page]) -> Looked:
    if not row["answers"]:
        return Looked(row["point"], bool(shown), None, None)
    answers = [normalise(answer) for answer in row["answers"]]
    told = [normalise(passage.text) for passage in shown]
    is_found = any(answer in text for answer in answers for text in told)
    read_for = (row["sub_question"], row["sub_question"])
    named = [page for page in pages if page.url.endswith(tuple(row["pages"]))]
    sheets = number_sentences(named, read_for, only_near=True, pointed=True)
    read = [normalise(" ".join(line.sentence.text for line in sheet.lines)) for sheet in sheets]
    is_hidden = not any(answer in text for answer in answers for text in read)
    return Looked(row["point"], bool(shown), is_found, is_hidden)


def _prompt_tokens(asked: Sequence[dict[str, Any]], pages: Sequence[Page]) -> int:
    """Return an upper estimate of the tokens of a call's prompt; 0 if none is made."""
    texts = list(dict.fromkeys(row["sub_question"] for row in asked))
    aspects = [Aspect(f"A{n}", text, "", "plan", 0) for n, text in enumerate(texts, 1)]
    ids = {aspect.text: aspect.id for aspect in aspects}
    points = [OpenPoint(ids[row["sub_question"]], row["point"], row["words"]) for row in asked]
    closest = closest_sentences(pages, points, {part.id: part.text for part in aspects}, "")
    if not closest.points:
        return 0
    sheets: list[PromptPage] = closest.numbered("")
    context = {
        "question": " ".join(texts),
        "today": "2026-03-01",
        "instructions": [],
        "aspects": aspects,
        "points": closest.points,
        "told_on": dict.fromkeys(points, ()),
        "words_left": True,
        "fence": Fences("", AddressWall("", pages)),
        "sheets": sheets,
        "has_names": True,
    }
    schema = json.dumps(EDITED_LOOK.schema())
    return tokens_of(*render_template(EDITED_LOOK.name, context), schema)


def table(measured: Measured) -> str:
    """Return the figures of a part in lines."""
    told = [each for each in measured.looked if each.is_found is not None]
    hidden = [each for each in told if each.is_hidden]
    untold = [each for each in measured.looked if each.is_found is None]
    return "\n".join((
        f"told points found: {measured.count(found=True)} of {len(told)}",
        f"of these, hidden from a reading: {sum(bool(e.is_found) for e in hidden)}"
        f" of {len(hidden)}",
        f"untold points with passages: {sum(e.is_shown for e in untold)} of {len(untold)}",
        f"calls: {measured.calls}, tokens of a prompt: {measured.tokens // max(1, measured.calls)}",
    ))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.last_look", description=__doc__)
    parser.add_argument("--part", choices=PARTS, default="tuning")
    parser.add_argument("--misses", action="store_true", help="name told points not found")
    parser.add_argument("--plain", action="store_true", help="points without words beside them")
    options = parser.parse_args()
    measured = measure(options.part, options.plain)
    print(table(measured))
    for each in measured.looked:
        if options.misses and each.is_found is False:
            print(f"{'missed' if each.is_shown else 'not looked for'}: {each.text}")


if __name__ == "__main__":
    main()
