"""The sample questions, to be tried over the bundled library."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.text import slugify

import research

QUESTIONS = Path(research.__file__).parent / "samples" / "questions.json"


@dataclass(frozen=True)
class Sample:
    slug: str
    question: str
    hint: str


@cache
def samples() -> tuple[Sample, ...]:
    entries = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return tuple(
        Sample(slugify(entry["question"]), entry["question"], entry.get("hint", ""))
        for entry in entries
    )


def find(slug: str) -> Sample | None:
    return next((sample for sample in samples() if sample.slug == slug), None)
