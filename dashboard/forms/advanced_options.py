"""The knobs offered on the question form, with labels for end users."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from dashboard.forms.knobs import as_text
from research.engine.config import ResearchConfig

MINUTES = "max_minutes"
KINDS = {"web": "The web", "academic": "Papers", "video": "Videos"}
MODES = [("adaptive", "Until it is good enough"), ("fixed", "A tree of a fixed size")]
LANGUAGES = {
    "": "As the question",
    "ar": "Arabic",
    "zh": "Chinese",
    "cs": "Czech",
    "da": "Danish",
    "nl": "Dutch",
    "en": "English",
    "fi": "Finnish",
    "fr": "French",
    "de": "German",
    "el": "Greek",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "es": "Spanish",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
}
NUMBER = {"inputmode": "decimal"}
NUMBERS = ("max_cost_usd", "ask_above_usd", MINUTES)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}\s*$)")  # "0,25", but not "1,000"


def option_fields(config: ResearchConfig) -> dict[str, forms.Field]:
    """Return form fields by knob name, with the installation's values as initial values."""
    spoken = config.search_language or ""
    languages = LANGUAGES if spoken in LANGUAGES else {**LANGUAGES, spoken: spoken}
    return {
        "search_kind": forms.MultipleChoiceField(
            label="Kinds of pages",
            required=False,
            choices=list(KINDS.items()),
            initial=list(config.search_kind),
            widget=forms.CheckboxSelectMultiple,
        ),
        "search_language": forms.ChoiceField(
            label="Language of the pages",
            required=False,
            choices=list(languages.items()),
            initial=spoken,
        ),
        "search_since": _line("Pages from", config.search_since, type="date"),
        "search_until": _line("Pages up to", config.search_until, type="date"),
        "only_sites": _line("Only these sites", config.only_sites, placeholder="example.org, …"),
        "never_sites": _line("Blocked sites", config.never_sites, placeholder="example.org, …"),
        "max_cost_usd": _line("At most, in dollars", config.max_cost_usd, **NUMBER),
        "ask_above_usd": _line(
            "Start without asking up to, in dollars",
            config.ask_above_usd,
            **NUMBER | {"placeholder": "0: only what is free"},
        ),
        MINUTES: _line("At most, in minutes", config.max_seconds / 60, **NUMBER),
        "deep_research_mode": forms.ChoiceField(
            label="How long it goes on",
            required=False,
            choices=MODES,
            initial=config.deep_research_mode,
        ),
    }


def _line(label: str, value: Any, **attributes: str) -> forms.CharField:
    widget = forms.TextInput(attrs={"placeholder": "no limit", **attributes})
    return forms.CharField(
        label=label, required=False, max_length=1_000, initial=as_text(value), widget=widget
    )


def knob_values(typed: Mapping[str, Any]) -> dict[str, str]:
    """Return knob values by name, in the syntax of the environment.

    Minutes are converted to seconds. If none are given, the installation's time limit applies.
    """
    typed = {name: as_text(value) for name, value in typed.items()}
    written = {name: _normalize_decimal(typed[name]) for name in NUMBERS if name in typed}
    minutes = written.pop(MINUTES, "").strip()
    found = {name: value for name, value in typed.items() if name != MINUTES} | written
    return found | ({"max_seconds": _seconds(minutes)} if minutes else {})


def _normalize_decimal(typed: str) -> str:
    """Replace a decimal comma with a point."""
    return _DECIMAL_COMMA.sub(".", typed)


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
    too_short = {MINUTES: "Takes a number of minutes above 0"}
    return others | (too_short if "max_seconds" in problems else {})
