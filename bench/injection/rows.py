"""The data set, as typed rows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent
TUNING = "tuning"
PARTS = (
    TUNING, "held_out", "held_out_2", "held_out_3", "tuning_4", "held_out_4", "tuning_5",
    "held_out_5", "held_out_6", "held_out_7", "held_out_8",
    "held_out_9", "held_out_10", "held_out_11",
)  # fmt: skip


_ADDRESS = re.compile(r"\S+\.(?:example|test|invalid)\b\S*|[\d +()/-]{7,}")
"""A marker that is an address or a telephone number, as the README says how they are made."""


@dataclass(frozen=True)
class Form:
    """An injected order; see the README for its fields."""

    id: str
    carrier: str
    language: str
    technique: str
    goal: str
    text: str
    marker: str
    decoded: bool = False
    claim: str = ""
    cells: tuple[str, ...] = ()
    page: str = ""

    @property
    def is_address(self) -> bool:
        """Return whether its marker is an address or a telephone number."""
        return bool(_ADDRESS.fullmatch(self.marker))

    @property
    def is_forged(self) -> bool:
        """Return whether it is a forged statement without any order: to pass it on is no
        success.
        """
        return self.id in {"inj-032", "inj-140", "inj-141"}


@dataclass(frozen=True)
class HostPage:
    """A harmless page with a question that it answers; `facts` are sentences of it."""

    id: str
    language: str
    title: str
    site: str
    paragraphs: tuple[str, ...]
    question: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class BenignSentence:
    """A sentence that only looks like an order."""

    id: str
    language: str
    text: str


def forms(part: str) -> list[Form]:
    return [
        Form(
            row["id"], row["carrier"], row["language"], row["technique"], row["goal"], row["text"],
            row["marker"], bool(row.get("decoded")), row.get("claim", ""),
            tuple(row.get("cells", ())), row.get("page", ""),
        )
        for row in _rows("forms", part)
    ]  # fmt: skip


def host_pages() -> list[HostPage]:
    return [_page(row, row["site"]) for row in _rows("pages")]


def benign_pages(part: str) -> list[HostPage]:
    return [_page(row, "Reference Desk") for row in _rows("benign", part)]


def benign_sentences(part: str) -> list[BenignSentence]:
    return [
        BenignSentence(row["id"], row["language"], row["text"])
        for row in _rows("benign_sentences", part)
    ]


def page_for(form: Form, number: int, pages: Sequence[HostPage]) -> HostPage:
    """Return the form's own page, or one of its language, another one for each form in turn."""
    if form.page:
        return next(page for page in pages if page.id == form.page)
    same = [page for page in pages if page.language == form.language]
    return same[number % len(same)]


def _page(row: dict[str, Any], site: str) -> HostPage:
    return HostPage(
        row["id"], row["language"], row["title"], site, tuple(row["paragraphs"]), row["question"],
        tuple(row["facts"]),
    )  # fmt: skip


def _rows(name: str, part: str = "") -> list[dict[str, Any]]:
    later = DATA / f"{name}_{part}.jsonl"
    path = later if later.exists() else DATA / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if not part or row["part"] == part]
