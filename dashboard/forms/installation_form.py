"""The form of the setup page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.forms.knob_labels import CHOICES
from dashboard.stored_texts import lazy_worded
from research.runtime.installation import (
    PROFILE,
    SERVER,
    Installation,
    Origin,
    secret_names,
    setting_names,
    setup_settings,
)
from research.setting import Setting

KEY_SAVED = _("A key is saved and never shown. Enter another to replace it.")
SET_OUTSIDE = _("Set by an environment variable or .env, which override this page.")


@dataclass(frozen=True)
class SettingLine:
    """A setting on the page, where its value comes from, and the field that puts it back."""

    field: forms.BoundField
    origin: Origin
    forget: forms.BoundField | None


class InstallationForm(forms.Form):
    """The installation settings that an admin may change: those that are declared with a label.

    Settings from the environment are read-only. Stored keys are never displayed; an empty field
    keeps the stored key. What is stored can be put back to its default.
    """

    MODEL_PROFILE = forms.ChoiceField(
        label=_("Profile"),
        required=False,
        choices=CHOICES["model_profile"],
    )

    use_required_attribute = False

    def __init__(self, now: Installation, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.now = now
        self.fields |= {name: _make_field(each) for name, each in setup_settings().items()}
        names = list(self.fields)
        self.order_fields(names[1 : names.index("SEARCH_PROVIDER")])  # then the profile
        self.server_is_given = any(now.values[name].origin == "environment" for name in SERVER)
        self._origins = {name: held.origin for name, held in now.values.items()}
        secrets = secret_names()
        for name, held in now.values.items():
            field = self.fields[name]
            if held.origin == "environment" or (name in SERVER and self.server_is_given):
                field.disabled = True
                field.help_text = SET_OUTSIDE
            elif held.value:
                self.fields[_forget(name)] = _forget_field(field, is_key=name in secrets)
            if name not in secrets:
                field.initial = self._shown(name)
            elif not field.disabled:
                field.help_text = KEY_SAVED if held.value else _("No key saved.")

    def groups(self) -> list[tuple[Promise, list[SettingLine]]]:
        """Return title and fields of each purpose."""
        lines = [
            SettingLine(
                field,
                self._origins[field.name],
                self[_forget(field.name)] if _forget(field.name) in self.fields else None,
            )
            for field in self.visible_fields()
            if field.name in self._origins
        ]
        search = [line.field.name for line in lines].index("SEARCH_PROVIDER")
        return [(_("Model"), lines[:search]), (_("Search"), lines[search:])]

    @property
    def number_set(self) -> int:
        """Return how many settings have another value than the default."""
        return sum(origin != "default" for origin in self._origins.values())

    def changes(self) -> dict[str, str]:
        """Return the submitted values that differ from those in effect, by name; '' for a setting
        that is put back to its default.
        """
        secrets = secret_names()
        found = {}
        for name in filter(self._is_sent, setting_names()):
            value = self.cleaned_data[name]
            if value and name in secrets:
                found[name] = value
            elif self.cleaned_data.get(_forget(name)):
                found[name] = ""
            elif name not in secrets and value != self._shown(name):
                found[name] = "" if value == self._default(name) else value
        return found

    def _shown(self, name: str) -> str:
        """Return the value in effect, as the page shows it."""
        return self.now[name] or self._default(name)

    def _default(self, name: str) -> str:
        """Return what the page shows where nothing is set."""
        return settings.RESEARCH_DEFAULTS.model_profile if name == PROFILE else ""

    def _is_sent(self, name: str) -> bool:
        is_there = name in self.data or _forget(name) in self.data
        return is_there and name in self.fields and not self.fields[name].disabled


def _forget(name: str) -> str:
    """Return the name of the checkbox that deletes what is stored."""
    return f"forget_{name}"


def _forget_field(field: forms.Field, *, is_key: bool) -> forms.BooleanField:
    told = _("Delete the saved key: %(name)s") if is_key else _("Back to the default: %(name)s")
    return forms.BooleanField(label=told % {"name": field.label}, required=False)


def _make_field(setting: Setting) -> forms.CharField:
    is_key = setting.kind == "key"
    hidden = forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=True)  # as typed
    return forms.CharField(
        label=lazy_worded(setting.label or setting.name),
        required=False,
        max_length=200 if setting.kind == "model" else 500,
        help_text=lazy_worded(setting.hint or setting.help),
        widget=hidden if is_key else forms.TextInput(),
    )
