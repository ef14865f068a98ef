"""The form of the setup page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.stored_texts import lazy_worded
from research.runtime.installation import NAMES, SECRETS, SERVER, Installation
from research.search.providers import Setting, needed_settings

SET_OUTSIDE = _("Set by an environment variable or .env, which override this page.")


class InstallationForm(forms.Form):
    """The installation settings that an admin may change.

    Settings from the environment are read-only. Stored keys are never displayed; an empty field
    keeps the stored key.
    """

    OPENAI_BASE_URL = forms.CharField(
        label=_("Server address"),
        required=False,
        max_length=500,
        help_text=_(
            "Any server with OpenAI’s chat completions; usually ends in /v1. Empty: OpenAI itself."
        ),
    )
    OPENAI_API_KEY = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=500,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )
    RESEARCH_MODEL = forms.CharField(
        label=_("Model"),
        required=False,
        max_length=200,
        help_text=_("Plans, reads and writes. Empty: passages are quoted instead."),
    )
    READER_MODEL = forms.CharField(
        label=_("Model that reads pages"),
        required=False,
        max_length=200,
        help_text=_("Makes most of the calls; a cheaper model often works. Empty: the same model."),
    )
    EVALUATOR_MODEL = forms.CharField(
        label=_("Model that assesses each round"),
        required=False,
        max_length=200,
        help_text=_("A cheaper model often works. Empty: the same model."),
    )
    MODEL_PROFILE = forms.ChoiceField(
        label=_("Profile"),
        required=False,
        choices=[
            ("standard", _("Standard")),
            ("small", _("Small: short prompts, one task at a time")),
        ],
    )
    SEARCH_PROVIDER = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=200,
        help_text=_(
            "Providers, preferred first, separated by commas. Empty: those that are set up."
        ),
    )

    use_required_attribute = False

    def __init__(self, now: Installation, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields |= {each.name: _provider_field(each) for each in needed_settings()}
        self.server_is_given = any(now.values[name].origin == "environment" for name in SERVER)
        for name, held in now.values.items():
            field = self.fields[name]
            if held.origin == "environment" or (name in SERVER and self.server_is_given):
                field.disabled = True
                field.help_text = SET_OUTSIDE
            elif name in SECRETS and held.value:
                field.help_text = _("A key is saved and never shown. Enter another to replace it.")
                self.fields[_forget(name)] = forms.BooleanField(
                    label=_("Delete the saved key: %(name)s") % {"name": field.label},
                    required=False,
                )
            elif name in SECRETS:
                field.help_text = _("No key saved.")
            if name not in SECRETS:
                field.initial = held.value

    def changes(self) -> dict[str, str]:
        """Return the submitted values of editable settings, by name."""
        sent = {name: self.cleaned_data[name] for name in NAMES if self._is_sent(name)}
        kept = {name for name in SECRETS & sent.keys() if not sent[name]}
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
        label=lazy_worded(setting.label or setting.name),
        required=False,
        max_length=500,
        help_text=lazy_worded(setting.help),
        widget=hidden if is_key else forms.TextInput(),
    )
