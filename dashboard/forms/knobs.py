"""The knobs of a run as form fields, generated from `ResearchConfig` and grouped by purpose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Literal, get_args, get_origin

from django import forms
from django.utils import formats
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic.fields import FieldInfo

from dashboard.forms.knob_labels import CHOICES, EXPERT, GROUPS, LABELS, LANGUAGES, OTHERS, PURPOSES
from dashboard.stored_texts import lazy_worded, worded
from research.engine.config import ResearchConfig
from research.engine.knobs import knob_extra

_VARIABLE = re.compile(r"\b(" + "|".join(map(str.upper, ResearchConfig.model_fields)) + r")\b")

_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}\s*$)|(?<=^0),(?=\d+\s*$)")
""""0,25" and "0,005", but not "1,000"."""
DECIMALS = frozenset(
    name
    for name, info in ResearchConfig.model_fields.items()
    if float in (info.annotation, *get_args(info.annotation))
)


DATES = frozenset({"search_since", "search_until"})


@dataclass(frozen=True)
class KnobLine:
    """A knob on the page: `default` is the installation's value as text, `usual` as it is shown.

    `by_complexity` is for those with one number each for simple, ordinary and complex questions.
    """

    field: forms.BoundField
    unit: str
    default: str
    usual: str | Promise
    by_complexity: bool

    @property
    def is_changed(self) -> bool:
        return as_text(self.field.value()).strip() != self.default


@dataclass(frozen=True)
class KnobGroup:
    title: Promise
    purpose: str | Promise
    lines: Sequence[KnobLine]

    @property
    def begins_expert(self) -> bool:
        return self.title == EXPERT

    @property
    def changed(self) -> int:
        return sum(line.is_changed for line in self.lines)

    @property
    def is_misset(self) -> bool:
        return any(line.field.errors for line in self.lines)


def form_groups(form: forms.BaseForm, defaults: ResearchConfig) -> list[KnobGroup]:
    """Return the fields of a form with all knobs, in groups."""
    units = knob_units()
    return [
        KnobGroup(
            title,
            purpose,
            [_line(form[name], units[name], getattr(defaults, name)) for name in names],
        )
        for (title, names), purpose in zip(knob_groups(), chain(PURPOSES, repeat("")), strict=False)
    ]


def _line(field: forms.BoundField, unit: str, value: Any) -> KnobLine:
    default = as_typed(value)
    usual: str | Promise = default or _("not set")
    if isinstance(value, float) or (isinstance(value, tuple) and float in map(type, value)):
        usual = " / ".join(map(_localized, value if isinstance(value, tuple) else (value,)))
    if isinstance(value, bool):
        usual = _("on") if value else _("off")
    elif isinstance(field.field, forms.ChoiceField):
        usual = dict(field.field.choices)[default]
    elif isinstance(value, float):
        usual = formats.number_format(default, use_l10n=True)
    by_complexity = isinstance(value, tuple) and all(isinstance(each, int) for each in value)
    return KnobLine(field, unit, default, usual, by_complexity and bool(value))


def _localized(value: float) -> str:
    return str(formats.number_format(as_text(value), use_l10n=True))


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


def with_plain_names(text: str) -> str:
    """Return a sentence with the plain names of knobs in place of their variables' names."""
    return _VARIABLE.sub(lambda found: f"“{knob_label(found[0].lower())}”", text)


def tell_problem(problem: str) -> str:
    """Return a problem of `ConfigError` as a sentence beside its field, which asks for what the
    knob takes: "takes 1 or more" → "Enter 1 or more."
    """
    wanted = problem.removeprefix("takes ")
    text = problem if wanted == problem else f"enter {wanted}"
    return with_plain_names(worded(f"{text[:1].upper()}{text[1:]}."))


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
        named = dict(CHOICES.get(name, ()))
        choices = [(each, named.get(each, each)) for each in get_args(info.annotation)]
        return forms.ChoiceField(initial=value, choices=choices, **told)
    if name == "search_language":
        spoken = value or ""
        languages = LANGUAGES if spoken in LANGUAGES else {**LANGUAGES, spoken: spoken}
        return forms.ChoiceField(initial=spoken, choices=list(languages.items()), **told)
    kind = {"type": "date"} if name in DATES else {"inputmode": "decimal"}
    widget = forms.TextInput(attrs={**kind, "placeholder": _("not set")})
    return forms.CharField(initial=as_typed(value), max_length=1_000, widget=widget, **told)


def normalize_decimal(typed: str) -> str:
    """Replace a decimal comma with a point."""
    return _DECIMAL_COMMA.sub(".", typed)


class DecimalField(forms.FloatField):
    """A number with a decimal point or comma."""

    def to_python(self, value: Any) -> float | None:
        return super().to_python(normalize_decimal(value) if isinstance(value, str) else value)


def as_typed(value: Any) -> str:
    """Format a value as people type it: a number with the decimal separator of their language, if
    it is read back as the same.
    """
    text = as_text(value)
    if not isinstance(value, float):
        return text
    shown = text.replace(".", formats.get_format("DECIMAL_SEPARATOR"))
    return shown if normalize_decimal(shown) == text else text


def as_text(value: Any) -> str:
    """Format a value in the syntax of the environment."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ", ".join(map(as_text, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
