"""The sample questions for the bundled library, and the form that starts one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django import forms
from django.utils.text import slugify

import research

QUESTIONS = Path(research.__file__).parent / "samples" / "questions.json"


@dataclass(frozen=True)
class Sample:
    slug: str
    question: str
    hint: str


@cache
def load_samples() -> tuple[Sample, ...]:
    entries = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return tuple(
        Sample(slugify(entry["question"]), entry["question"], entry.get("hint", ""))
        for entry in entries
    )


def find_sample(slug: str) -> Sample | None:
    return next((sample for sample in load_samples() if sample.slug == slug), None)


class SampleForm(forms.Form):
    """The button that starts a sample. `key` is its idempotency key."""

    key = forms.CharField(max_length=64)
