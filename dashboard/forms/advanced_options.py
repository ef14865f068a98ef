"""The knobs offered on the question form, with labels for end users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.forms.knob_labels import LANGUAGES, MODES
from dashboard.forms.knobs import as_text, as_typed, normalize_decimal
from dashboard.words import format_number
from research.engine.config import MOST_SECONDS, ResearchConfig

MINUTES = "max_minutes"
KINDS = {"web": _("The web"), "academic": _("Papers"), "video": _("Videos")}
NUMBER = {"inputmode": "decimal"}
NUMBERS = ("max_cost_usd", "ask_above_usd", MINUTES)


def option_fields(config: ResearchConfig) -> dict[str, forms.Field]:
    """Return form fields by knob name, with the installation's values as initial values."""
    spoken = config.search_language or ""
    languages = LANGUAGES if spoken in LANGUAGES else {**LANGUAGES, spoken: spoken}
    return {
        "search_kind": forms.MultipleChoiceField(
            label=_("Kinds of pages"),
            required=False,
            choices=list(KINDS.items()),
            initial=list(config.search_kind),
            widget=forms.CheckboxSelectMultiple,
        ),
        "search_language": forms.ChoiceField(
            label=_("Language of the pages"),
            required=False,
            choices=list(languages.items()),
            initial=spoken,
        ),
        "search_since": _line(_("Pages from"), config.search_since, type="date"),
        "search_until": _line(_("Pages up to"), config.search_until, type="date"),
        "only_sites": _line(_("Only these sites"), config.only_sites, placeholder="example.org, …"),
        "never_sites": _line(_("Blocked sites"), config.never_sites, placeholder="example.org, …"),
        "max_cost_usd": _line(_("Spending limit, in dollars"), config.max_cost_usd, **NUMBER),
        "ask_above_usd": _line(
            _("Start without asking below, in dollars"),
            config.ask_above_usd,
            **NUMBER | {"placeholder": _("0: only what is free")},
        ),
        MINUTES: _line(_("Time limit, in minutes"), config.max_seconds / 60, **NUMBER),
        "deep_research_mode": forms.ChoiceField(
            label=_("When research ends"),
            required=False,
            choices=MODES,
            initial=config.deep_research_mode,
        ),
    }


def _line(label: str, value: Any, **attributes: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"placeholder": _("no limit"), **attributes})
    return forms.CharField(
        label=label, required=False, max_length=1_000, initial=as_typed(value), widget=widget
    )


def knob_values(typed: Mapping[str, Any]) -> dict[str, str]:
    """Return knob values by name, in the syntax of the environment.

    Minutes are converted to seconds. If none are given, the installation's time limit applies.
    """
    typed = {name: as_text(value) for name, value in typed.items()}
    written = {name: normalize_decimal(typed[name]) for name in NUMBERS if name in typed}
    minutes = written.pop(MINUTES, "").strip()
    found = {name: value for name, value in typed.items() if name != MINUTES} | written
    return found | ({"max_seconds": _seconds(minutes)} if minutes else {})


def _seconds(minutes: str) -> str:
    """Convert minutes to seconds. Return other text unchanged, so that the knob reports it."""
    try:
        return as_text(float(minutes) * 60)
    except ValueError:
        return minutes


def by_field(problems: Mapping[str, str]) -> dict[str, str]:
    """Return validation errors by form field.

    The time limit is entered in minutes, so its error is reworded.
    """
    others = {name: text for name, text in problems.items() if name != "max_seconds"}
    if "max_seconds" not in problems:
        return others
    told = gettext("Enter a number of minutes above 0, up to %(most)s")
    return others | {MINUTES: told % {"most": format_number(MOST_SECONDS // 60)}}
