"""The form of the setup page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.forms.knob_labels import CHOICES
from dashboard.stored_texts import lazy_worded
from research.runtime.installation import (
    SERVER,
    Installation,
    Origin,
    secret_names,
    setting_names,
    setup_settings,
)
from research.setting import Setting

SET_OUTSIDE = _("Set by an environment variable or .env, which override this page.")


@dataclass(frozen=True)
class SettingLine:
    """A setting on the page, where its value comes from, and the field that deletes its key."""

    field: forms.BoundField
    origin: Origin
    forget: forms.BoundField | None


class InstallationForm(forms.Form):
    """The installation settings that an admin may change: those that are declared with a label.

    Settings from the environment are read-only. Stored keys are never displayed; an empty field
    keeps the stored key.
    """

    MODEL_PROFILE = forms.ChoiceField(
        label=_("Profile"),
        required=False,
        choices=CHOICES["model_profile"],
    )

    use_required_attribute = False

    def __init__(self, now: Installation, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
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
            elif name in secrets and held.value:
                field.help_text = _("A key is saved and never shown. Enter another to replace it.")
                self.fields[_forget(name)] = forms.BooleanField(
                    label=_("Delete the saved key: %(name)s") % {"name": field.label},
                    required=False,
                )
            elif name in secrets:
                field.help_text = _("No key saved.")
            if name not in secrets:
                field.initial = held.value

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


def _make_field(setting: Setting) -> forms.CharField:
    is_key = setting.kind == "key"
    hidden = forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False)
    return forms.CharField(
        label=lazy_worded(setting.label or setting.name),
        required=False,
        max_length=200 if setting.kind == "model" else 500,
        help_text=lazy_worded(setting.hint or setting.help),
        widget=hidden if is_key else forms.TextInput(),
    )
