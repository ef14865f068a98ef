"""The knobs of a run as form fields, generated from `ResearchConfig` and grouped by purpose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic.fields import FieldInfo

from dashboard.forms.knob_labels import GROUPS, LABELS, OTHERS
from dashboard.stored_texts import lazy_worded, worded
from research.engine.config import ResearchConfig
from research.engine.knobs import knob_extra


def knob_groups() -> Iterator[tuple[Promise, list[str]]]:
    """Yield title and knob names of each group; knobs without a group come last."""
    known = set(ResearchConfig.model_fields)
    grouped: set[str] = set()
    for title, names in GROUPS.items():
        yield title, [name for name in names if name in known]
        grouped |= names.keys()
    rest = [name for name in ResearchConfig.model_fields if name not in grouped]
    if rest:
        yield OTHERS, rest


def knob_label(name: str) -> str | Promise:
    """Return the plain name of a knob."""
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def knob_units() -> dict[str, str]:
    """Return the unit of each knob; '' if it is not a quantity."""
    return {
        name: worded(knob_extra(info)["unit"]) for name, info in ResearchConfig.model_fields.items()
    }


def knob_fields(config: ResearchConfig) -> dict[str, forms.Field]:
    return {
        name: _field(name, info, getattr(config, name))
        for name, info in ResearchConfig.model_fields.items()
    }


def _field(name: str, info: FieldInfo, value: Any) -> forms.Field:
    told: dict[str, Any] = {
        "label": knob_label(name),
        "help_text": lazy_worded(info.description or ""),
        "required": False,
    }
    if info.annotation is bool:
        return forms.BooleanField(initial=value, **told)
    if get_origin(info.annotation) is Literal:
        choices = [(choice, lazy_worded(choice)) for choice in get_args(info.annotation)]
        return forms.ChoiceField(initial=value, choices=choices, **told)
    widget = forms.TextInput(attrs={"inputmode": "decimal", "placeholder": _("not set")})
    return forms.CharField(initial=as_text(value), max_length=1_000, widget=widget, **told)


def as_text(value: Any) -> str:
    """Format a value in the syntax of the environment."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ", ".join(map(as_text, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
