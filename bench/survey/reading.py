"""A finished report as the rubric takes it, and the rubric of its form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.survey.measure import Fact, normalise
from research.engine.report.parts.headings import short_headings

END = re.compile(r"^## (?:Sources|How this was researched)\s*$", re.MULTILINE)
_SENTENCE = re.compile(r"(.+?[.!?…][”\"’)*]*)((?:\s*\[\d+\])+|(?=\s|$))(?=\s|$)", re.DOTALL)
_DOUBT = re.compile(r" \(⚠[^)]*\)")
_MARKER = re.compile(r"\[(\d+)\]")
_WORD = re.compile(r"\S*[^\W_]\S*")
_LINE = re.compile(r"\*(?!\*)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_SIDE = re.compile(r"^> - \*\*[^*]+\*\*(?: \([^()]*\))? – ")
_LEAST_WORDS = 5
MOST_SENTENCES = 5


def read_report(markdown: str, citations: Sequence[Any]) -> dict[str, Any]:
    """Sentences with the addresses that they cite, and tables."""
    urls = {citation.marker: citation.url for citation in citations}
    sentences, tables = [], []
    for block in body_blocks(markdown):
        if block.startswith("|"):
            tables.append([_cells(row) for row in block.splitlines() if not _is_rule(row)])
            continue
        for text in _lines(block):
            for said, marks in sentences_of(text):
                numbers = map(int, _MARKER.findall(f"{said} {marks}"))
                cited = [urls[number] for number in numbers if number in urls]
                sentences.append({"text": said, "urls": cited})
    return {"sentences": sentences, "tables": tables}


def body_blocks(markdown: str) -> list[str]:
    """Return the report's blocks before its sources, without headings."""
    body = _DOUBT.sub("", END.split(markdown.replace("\\", ""), maxsplit=1)[0])
    blocks = (block.strip() for block in re.split(r"\n{2,}", body))
    return [block for block in blocks if block and not block.startswith("#")]


def _lines(block: str) -> list[str]:
    """Return the items of a list apart, those of a dispute without who holds the view, any other
    block as one.
    """
    if _ITEM.match(block):
        return [_ITEM.sub("", line) for line in block.splitlines()]
    if "\n> - " in block:
        return [_SIDE.sub("", line).removeprefix("> ") for line in block.splitlines()]
    return [" ".join(block.splitlines())]


def sentences_of(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence with the citation marks behind it."""
    for said, marks in _SENTENCE.findall(text):
        yield said.strip(), marks


def _cells(row: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", row.strip().strip("|"))
    return [_MARKER.sub("", cell).strip() for cell in cells]


def _is_rule(row: str) -> bool:
    return not set(row) - set("|-: ")


def measure_form(markdown: str, citations: Sequence[Any]) -> dict[str, float]:
    """Words, repetitions, paragraphs and sources of a report."""
    blocks = body_blocks(markdown)
    prose = _prose(blocks)
    summary = summary_end(prose)
    said = Counter(
        plain for text in prose[summary + 1 :] for each, _ in sentences_of(text)
        if len((plain := normalise(each)).split()) >= _LEAST_WORDS
    )  # fmt: skip
    words = sum(len(_WORD.findall(_MARKER.sub("", block))) for block in blocks)
    sources = len({citation.url for citation in citations})
    return {
        "words": words,
        "sources": sources,
        "sources_per_100_words": round(100 * sources / max(1, words), 2),
        "repeated": sum(count - 1 for count in said.values()),
        "long_paragraphs": sum(
            sum(1 for _ in sentences_of(text)) > MOST_SENTENCES for text in prose
        ),
    }


def _prose(blocks: Sequence[str]) -> list[str]:
    return [text for block in blocks if not block.startswith("|") for text in _lines(block)]


def measure_summary(
    markdown: str, facts: Sequence[Mapping[str, Any]], aspects: Sequence[Any]
) -> dict[str, float]:
    """Return the greatest weight of a fact that the summary shows for each aspect, of 3, and the
    share of its facts that are an event or one side of a dispute.
    """
    prose = _prose(body_blocks(markdown))
    opening = next((n for n, text in enumerate(prose) if _LINE.match(text) and n), 0)
    said = [normalise(each) for text in prose[:opening] for each, _ in sentences_of(text)]
    shown = [row for row in facts if any(Fact(row).shown(each) for each in said)]
    weights: dict[str, int] = {}
    for row in shown:
        weights[row["aspect"]] = max(row["weight"], weights.get(row["aspect"], 0))
    asides = sum(row["kind"] == "event" or bool(row["disputed_with"]) for row in shown)
    return {
        "summary_weight": round(sum(weights.values()) / (3 * max(1, len(aspects))), 4),
        "summary_asides": round(asides / max(1, len(shown)), 4),
    }


def summary_end(prose: Sequence[str]) -> int:
    """Return the index of the last line about the run, which follows the summary."""
    place = next((n for n, text in enumerate(prose) if _LINE.match(text) and n), 0)
    while prose[place + 1 : place + 2] and _LINE.match(prose[place + 1]):
        place += 1
    return place


def summary_share(records: Mapping[str, Any], report: Any, aspects: Sequence[Any]) -> float:
    """Share of the sub-questions that the summary answers or names as open."""
    summary = report.short_answer
    cited = {
        record_id
        for citation in report.citations
        for ids in citation.places[: summary.count(f"[{citation.marker}]")]
        for record_id in ids
    }
    answered = {a for i in cited for a in records[i].answers}
    opening = report.markdown.replace("\\", "").partition("\n## ")[0]
    headings = short_headings([a.text for a in aspects])
    named = [
        a
        for a, heading in zip(aspects, headings, strict=True)
        if a.id in answered or any(name in opening for name in (a.text, heading))
    ]
    return round(len(named) / max(1, len(aspects)), 4)
