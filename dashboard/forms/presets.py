"""Presets of the Setup page: one form with the few fields that a model server or search needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.forms.installation_form import InstallationForm
from dashboard.stored_texts import lazy_worded
from research.llm.presets import MODEL_PRESETS, ModelPreset
from research.runtime.installation import SERVER, Installation, secret_names
from research.search.providers import KEYLESS_WEB, PROVIDERS

ADDRESS, KEY = SERVER
MODEL, SEARCH = "RESEARCH_MODEL", "SEARCH_PROVIDER"
USUAL_MODELS = ("openai", "ollama")


@dataclass(frozen=True)
class Preset:
    """A choice on the Setup page.

    `values` prefills settings by name, `hidden` are those not worth showing and `required` those
    that must not be empty. `options` are suggestions for the model's name.
    """

    name: str
    label: str | Promise
    hint: str | Promise
    values: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()
    example: str = ""
    is_usual: bool = False
    """Whether most people start with it."""

    @property
    def is_model(self) -> bool:
        return MODEL in self.values

    @property
    def kind(self) -> Promise:
        """Return what presets that stand together on the page have in common."""
        if self.is_model:
            return _("Hosted, with a key") if KEY in self.values else _("On your own machine")
        return _("With a key or an address") if self.required else _("Ready to use")


def _model_preset(preset: ModelPreset) -> Preset:
    has_one_address = preset.name in ("openai", "openrouter")
    return Preset(
        name=preset.name,
        label=lazy_worded(preset.label),
        hint=lazy_worded(preset.hint),
        values={ADDRESS: preset.address} | ({KEY: ""} if preset.needs_key else {}) | {MODEL: ""},
        hidden=frozenset({ADDRESS} if has_one_address else ()),
        required=frozenset({MODEL, KEY} if preset.needs_key else {MODEL, ADDRESS}),
        options=preset.models,
        example=preset.example,
        is_usual=preset.name in USUAL_MODELS,
    )


def search_presets() -> tuple[Preset, ...]:
    web = Preset(
        "web",
        _("Web without a key"),
        _("DuckDuckGo and Wikipedia. Works at once; frequent searches may be refused for a while."),
        {SEARCH: ", ".join(KEYLESS_WEB)},
        frozenset({SEARCH}),
        is_usual=True,
    )
    samples = Preset(
        "samples",
        _("Sample library"),
        _("A few bundled pages, to try Plumbline without a network."),
        {SEARCH: "samples"},
        frozenset({SEARCH}),
    )
    needed = [
        Preset(
            name,
            lazy_worded(provider.label),
            lazy_worded(provider.needs.help),
            {provider.needs.name: "", SEARCH: name},
            frozenset({SEARCH}),
            frozenset({provider.needs.name}),
        )
        for name, provider in PROVIDERS.items()
        if provider.needs
    ]
    return (web, samples, *needed)


MODELS = tuple(_model_preset(preset) for preset in MODEL_PRESETS)


def find_preset(name: str | None) -> Preset | None:
    return next((preset for preset in (*MODELS, *search_presets()) if preset.name == name), None)


class PresetForm(InstallationForm):
    """The fields of one preset; everything else stays as it is."""

    fields: dict[str, forms.Field]

    def __init__(self, now: Installation, preset: Preset, data: Any = None) -> None:
        super().__init__(now, data, auto_id="preset_%s")
        self.now, self.preset = now, preset
        self.fields = {name: self.fields[name] for name in preset.values}
        for name, value in preset.values.items():
            self.fields[name].initial = value or self.fields[name].initial
            if name in preset.hidden:
                self.fields[name].widget = forms.HiddenInput()
        if preset.is_model:
            self._suggest_model(now)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in self.preset.required:
            if not cleaned.get(name) and not self._is_saved(name, cleaned):
                self.add_error(name, _("%(name)s needs this field.") % {"name": self.preset.label})
        return cleaned

    def _suggest_model(self, now: Installation) -> None:
        field = self.fields[MODEL]
        is_same = now[ADDRESS] == self.preset.values[ADDRESS]
        field.initial = now[MODEL] if is_same else ""
        field.help_text = _("The name that the server uses for it.")
        example = self.preset.example or next(iter(self.preset.options), "")
        field.widget.attrs |= {"list": "preset-models", "placeholder": example}

    def _is_saved(self, name: str, cleaned: Mapping[str, Any]) -> bool:
        """Return whether a key may stay empty: it is saved, for the same server."""
        if name not in secret_names() or not self.now[name]:
            return False
        return name != KEY or self.now[ADDRESS] == cleaned.get(ADDRESS)
