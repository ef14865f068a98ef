"""Prompts in the documented envelope, made without the product's prompt files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bench.world.facts import Page

Finding = tuple[str, str]
"""Sub-question's id and claim."""


def sentences_of(page: Page) -> list[str]:
    return [s for text in page.paragraphs for s in re.split(r"(?<=[.])\s+", text)]


def section(label: str, lines: Iterable[str]) -> str:
    return f"# {label}\n" + "".join(f"{line}\n" for line in lines) + "\n"


def sub_questions(texts: Sequence[str]) -> str:
    return section("SUB-QUESTIONS", (f"[A{at}] {text}" for at, text in enumerate(texts, 1)))


def intake(question: str) -> str:
    return section("QUESTION", [question]) + section("TODAY", ["2026-05-01"])


def follow_up(question: str, before: str) -> str:
    return intake(question) + section("EARLIER QUESTION", [before])


def pages(told: Sequence[Sequence[str]]) -> str:
    """Pages as lists of sentences, numbered through."""
    lines, number = [], 0
    for at, sentences in enumerate(told, 1):
        lines.append(f'<page number="{at}" address="http://127.0.0.1:1/p{at}" title="" date="">')
        for sentence in sentences:
            number += 1
            lines.append(f"[{number}] {sentence}")
        lines.append("</page>")
    return section("PAGES", lines)


def read(question: str, subs: Sequence[str], told: Sequence[Sequence[str]]) -> str:
    topic = section("TOPIC OF THIS READING", subs[:1])
    return intake(question) + sub_questions(subs) + topic + pages(told)


def already_searched(queries: Iterable[str]) -> str:
    return section("ALREADY SEARCHED", (f"- {query}" for query in queries))


def assess(
    question: str,
    subs: Sequence[str],
    found: Sequence[Finding],
    searched: Sequence[str] = ("something else",),
) -> str:
    lines = [f"[E{at}] ({sub}; 2 independent sources) {claim}"
             for at, (sub, claim) in enumerate(found, 1)]  # fmt: skip
    findings = section("FINDINGS", lines or ["None so far."])
    return intake(question) + sub_questions(subs) + findings + already_searched(searched)


def draft(question: str, subs: Sequence[str], found: Sequence[Finding]) -> str:
    lines = [f'[E{at}] ({sub}) {claim}\n    "{claim}" (127.0.0.1)'
             for at, (sub, claim) in enumerate(found, 1)]  # fmt: skip
    return intake(question) + sub_questions(subs) + section("EVIDENCE", lines)


def summary(question: str, subs: Sequence[str], found: Sequence[Finding]) -> str:
    checked = section(
        "CHECKED STATEMENTS",
        (f"[{at}] ({sub}) {claim}" for at, (sub, claim) in enumerate(found, 1)),
    )
    return section("QUESTION", [question]) + sub_questions(subs) + checked


def repair(question: str, found: Sequence[Finding]) -> str:
    faults = [f"[{at}] {claim} (cites E{at}): its quotes don't say it"
              for at, (_, claim) in enumerate(found, 1)]  # fmt: skip
    evidence = [f'[E{at}] {claim}\n    "{claim}" (127.0.0.1)'
                for at, (_, claim) in enumerate(found, 1)]  # fmt: skip
    return (
        section("QUESTION", [question])
        + section("LANGUAGE", ["en"])
        + section("STATEMENTS TO PUT RIGHT", faults)
        + section("EVIDENCE", evidence)
    )


def tree_queries(question: str, node: str, learned: Sequence[str]) -> str:
    return (
        intake(question)
        + section("NODE", [node])
        + section("LEARNINGS", (f"- {text}" for text in learned))
        + section("NUMBER OF QUERIES", ["4"])
    )


def tree_extract(question: str, goal: str, told: Sequence[Sequence[str]]) -> str:
    return intake(question) + section("GOAL", [goal]) + pages(told)


# --- the bare loop's, worded as it words them --------------------------------------------------


def bare_plan(question: str) -> str:
    return section("QUESTION", [question])


def bare_read(question: str, searched: Sequence[str], told: Sequence[Sequence[str]]) -> str:
    return bare_plan(question) + already_searched(searched) + pages(told)


def bare_report(question: str, findings: Sequence[str]) -> str:
    return bare_plan(question) + section("FINDINGS", (f"- {text}" for text in findings))
