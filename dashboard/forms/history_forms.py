"""The filter of the list of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

ARCHIVED = "archived"


class FindForm(forms.Form):
    text = forms.CharField(
        required=False,
        max_length=200,
        label="Search questions, answers and sources",
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Search questions, answers and sources"}
        ),
    )
    state = forms.ChoiceField(
        required=False,
        label="State",
        choices=[
            ("", "Any state"),
            ("waiting", "Waiting for you"),
            ("working", "In progress"),
            ("done", "Done"),
            ("nothing_found", "Nothing found"),
            ("failed", "Failed or cancelled"),
            (ARCHIVED, "Archived"),
        ],
    )
    folder = forms.ChoiceField(required=False, label="Folder")

    def __init__(self, folders: Sequence[str], data: Any) -> None:
        super().__init__(data)
        choices = [("", "All folders"), *((name, name) for name in folders)]
        self.fields["folder"] = forms.ChoiceField(required=False, label="Folder", choices=choices)
