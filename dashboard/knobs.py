"""The knobs of a run as form fields, generated from `ResearchConfig`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from research.engine.config import ResearchConfig
from research.engine.knobs import extra

# each group begins with this knob and reaches to the next one's
FIRST_OF_GROUP = (
    ("deep_research_mode", "When it stops"),
    ("topics_per_round", "How much a round does"),
    ("min_evidence_records", "What the gates ask for"),
    ("max_seconds", "Budgets"),
    ("supervisor_notes_word_budget", "Prompts and the fixed mode"),
)


def groups() -> Iterator[tuple[str, list[str]]]:
    """Title and names of each group, in the order of declaration."""
    names = list(ResearchConfig.model_fields)
    starts = [names.index(first) for first, _ in FIRST_OF_GROUP]
    for (_, title), (start, end) in zip(
        FIRST_OF_GROUP, pairwise([*starts, len(names)]), strict=True
    ):
        yield title, names[start:end]


def units() -> dict[str, str]:
    """What each knob counts in, '' where it is no amount."""
    return {name: extra(info)["unit"] for name, info in ResearchConfig.model_fields.items()}


def fields(config: ResearchConfig) -> dict[str, forms.Field]:
    return {
        name: _field(name, info, getattr(config, name))
        for name, info in ResearchConfig.model_fields.items()
    }


def _field(name: str, info: FieldInfo, value: Any) -> forms.Field:
    told: dict[str, Any] = {
        "label": name.upper(),
        "help_text": info.description,
        "required": False,
    }
    if info.annotation is bool:
        return forms.BooleanField(initial=value, **told)
    if get_origin(info.annotation) is Literal:
        choices = [(choice, choice) for choice in get_args(info.annotation)]
        return forms.ChoiceField(initial=value, choices=choices, **told)
    widget = forms.TextInput(attrs={"inputmode": "decimal", "placeholder": "not set"})
    return forms.CharField(initial=as_text(value), max_length=1_000, widget=widget, **told)


def as_text(value: Any) -> str:
    """A value as the environment would have it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ", ".join(map(as_text, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
