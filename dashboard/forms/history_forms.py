"""The filter of the list of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

ARCHIVED = "archived"


class FindForm(forms.Form):
    text = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search questions, answers and sources"),
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Search questions, answers and sources")}
        ),
    )
    state = forms.ChoiceField(
        required=False,
        label=_("State"),
        choices=[
            ("", _("Any state")),
            ("waiting", _("Waiting for you")),
            ("working", _("In progress")),
            ("done", _("Done")),
            ("nothing_found", _("Nothing found")),
            ("failed", _("Failed or cancelled")),
            (ARCHIVED, _("Archived")),
        ],
    )
    folder = forms.ChoiceField(required=False, label=_("Folder"))

    def __init__(self, folders: Sequence[str], data: Any) -> None:
        super().__init__(data)
        choices = [("", _("All folders")), *((name, name) for name in folders)]
        self.fields["folder"] = forms.ChoiceField(
            required=False, label=_("Folder"), choices=choices
        )
