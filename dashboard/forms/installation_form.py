"""The form of the setup page."""

from __future__ import annotations

from typing import Any

from django import forms

from research.runtime.installation import SERVER, Installation, secret_names, setting_names
from research.search.providers import Setting, needed_settings

SET_OUTSIDE = "Set by an environment variable or .env, which override this page."


class InstallationForm(forms.Form):
    """The installation settings that an admin may change.

    Settings from the environment are read-only. Stored keys are never displayed; an empty field
    keeps the stored key.
    """

    OPENAI_BASE_URL = forms.CharField(
        label="Server address",
        required=False,
        max_length=500,
        help_text="Any server with OpenAI’s chat completions; usually ends in /v1. "
        "Empty: OpenAI itself.",
    )
    OPENAI_API_KEY = forms.CharField(
        label="API key",
        required=False,
        max_length=500,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )
    RESEARCH_MODEL = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        help_text="Plans, reads and writes. Empty: passages are quoted instead.",
    )
    READER_MODEL = forms.CharField(
        label="Model that reads pages",
        required=False,
        max_length=200,
        help_text="Makes most of the calls; a cheaper model often works. Empty: the same model.",
    )
    EVALUATOR_MODEL = forms.CharField(
        label="Model that judges each round",
        required=False,
        max_length=200,
        help_text="A cheaper model often works. Empty: the same model.",
    )
    MODEL_PROFILE = forms.ChoiceField(
        label="Profile",
        required=False,
        choices=[
            ("standard", "Standard"),
            ("small", "Small: short prompts, one task at a time"),
        ],
    )
    SEARCH_PROVIDER = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        help_text="Providers, preferred first, separated by commas. Empty: those that are set up.",
    )

    use_required_attribute = False

    def __init__(self, now: Installation, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields |= {each.name: _provider_field(each) for each in needed_settings()}
        self.server_is_given = any(now.values[name].origin == "environment" for name in SERVER)
        secrets = secret_names()
        for name, held in now.values.items():
            field = self.fields[name]
            if held.origin == "environment" or (name in SERVER and self.server_is_given):
                field.disabled = True
                field.help_text = SET_OUTSIDE
            elif name in secrets and held.value:
                field.help_text = "A key is saved and never shown. Enter another to replace it."
                self.fields[_forget(name)] = forms.BooleanField(
                    label=f"Delete the saved key: {field.label}", required=False
                )
            elif name in secrets:
                field.help_text = "No key saved."
            if name not in secrets:
                field.initial = held.value

    def changes(self) -> dict[str, str]:
        """Return the submitted values of editable settings, by name."""
        sent = {name: self.cleaned_data[name] for name in setting_names() if self._is_sent(name)}
        kept = {name for name in secret_names() & sent.keys() if not sent[name]}
        return {
            name: value
            for name, value in sent.items()
            if name not in kept or self.cleaned_data.get(_forget(name))
        }

    def _is_sent(self, name: str) -> bool:
        is_there = name in self.data or _forget(name) in self.data
        return is_there and name in self.fields and not self.fields[name].disabled


def _forget(name: str) -> str:
    """Return the name of the checkbox that deletes a stored key."""
    return f"forget_{name}"


def _provider_field(setting: Setting) -> forms.CharField:
    """Return the field of a setting that a search provider needs."""
    is_key = setting.kind == "key"
    hidden = forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False)
    return forms.CharField(
        label=setting.label or setting.name,
        required=False,
        max_length=500,
        help_text=setting.help,
        widget=hidden if is_key else forms.TextInput(),
    )
