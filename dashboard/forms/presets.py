"""Presets of the Setup page: one form with the few fields that a model server or search needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.forms.installation_form import InstallationForm
from dashboard.stored_texts import lazy_worded
from research.llm.presets import MODEL_PRESETS, ModelPreset
from research.runtime.installation import SERVER, Installation, secret_names, setup_settings
from research.search.providers import KEYLESS_WEB, PROVIDERS
from research.services.installation import is_same_server

if TYPE_CHECKING:
    from research.llm.local import LocalServer

ADDRESS, KEY = SERVER
MODEL, SEARCH = "RESEARCH_MODEL", "SEARCH_PROVIDER"
USUAL_MODELS = ("openai", "ollama")
OTHER = "other"
MISSING = {
    "key": _("Enter your API key."),
    "model": _("Enter a model name."),
    "url": _("Enter the server’s address."),
}
"""What a field that must not be empty asks for, by the kind of its setting."""


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
            return _("Hosted, with a key") if KEY in self.required else _("On your own machine")
        return _("With a key or an address") if self.required else _("Ready to use")


def _model_preset(preset: ModelPreset) -> Preset:
    has_one_address = preset.name in ("openai", "openrouter")
    asked = (KEY, MODEL) if preset.needs_key else (MODEL, KEY)
    return Preset(
        name=preset.name,
        label=lazy_worded(preset.label),
        hint=lazy_worded(preset.hint),
        values={ADDRESS: preset.address} | dict.fromkeys(asked, ""),
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


def preset_of(server: LocalServer) -> str:
    """Return the name of the preset for a server that was found on this machine."""
    return next((preset.name for preset in MODEL_PRESETS if preset.label == server.name), OTHER)


def find_preset(name: str | None) -> Preset | None:
    return next((preset for preset in (*MODELS, *search_presets()) if preset.name == name), None)


class PresetForm(InstallationForm):
    """The fields of one preset; everything else stays as it is."""

    fields: dict[str, forms.Field]

    def __init__(self, now: Installation, preset: Preset, data: Any = None) -> None:
        super().__init__(now, data, auto_id="preset_%s")
        self.preset = preset
        self.fields = {name: self.fields[name] for name in preset.values}
        for name, value in preset.values.items():
            field = self.fields[name]
            field.initial = value or ("" if name in preset.hidden else field.initial)
            if name in preset.hidden:
                field.widget = forms.HiddenInput()
        if preset.is_model:
            self._suggest_model()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in self.preset.required:
            if not cleaned.get(name) and not self._is_saved(name, cleaned):
                self.add_error(name, MISSING[setup_settings()[name].kind])
        return cleaned

    def _suggest_model(self) -> None:
        field, key = self.fields[MODEL], self.fields[KEY]
        address = self.fields[ADDRESS].initial
        if ADDRESS in self.preset.required:
            self.fields[ADDRESS].help_text = _("Usually ends in /v1.")
        is_known = bool(address) or ADDRESS in self.preset.hidden
        is_same = is_known and is_same_server(self.now[ADDRESS], address)
        if not (is_same and self.now[KEY]):
            is_needed = KEY in self.preset.required
            key.help_text = (
                _("No key saved.") if is_needed else _("Only if the server asks for one.")
            )
        field.initial = self.now[MODEL] if is_same else ""
        field.help_text = _("The name that the server uses for it.")
        example = self.preset.example or next(iter(self.preset.options), "")
        field.widget.attrs |= {"list": "preset-models", "placeholder": example}

    def _is_saved(self, name: str, cleaned: Mapping[str, Any]) -> bool:
        """Return whether a key may stay empty: it is saved, for the same server."""
        if name not in secret_names() or not self.now[name]:
            return False
        return name != KEY or is_same_server(self.now[ADDRESS], cleaned.get(ADDRESS, ""))
