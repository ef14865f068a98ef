"""The form that creates an API token."""

from __future__ import annotations

from django import forms

from research.services.api_tokens import NAME_LENGTH, Scope

VALIDITIES = [("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("", "Until it is revoked")]
ACCESS = [
    ("read write", "Read and write: start, steer and delete runs"),
    ("read", "Read only"),
]


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"placeholder": "Chat client", "autocomplete": "off"}),
        error_messages={"required": "Name the program that will use it."},
    )
    access = forms.ChoiceField(label="It may", choices=ACCESS, initial=ACCESS[0][0])
    days = forms.TypedChoiceField(
        label="It is valid for",
        required=False,
        choices=VALIDITIES,
        initial="90",
        coerce=int,
        empty_value=None,
    )
    max_cost_usd = forms.FloatField(
        label="Budget of each run, in dollars",
        required=False,
        help_text="Empty: as set for the installation.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "placeholder": "no limit"}),
    )

    use_required_attribute = False

    def scopes(self) -> list[Scope]:
        return [Scope(name) for name in self.cleaned_data["access"].split()]
