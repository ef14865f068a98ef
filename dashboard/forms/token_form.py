"""The form that creates an API token."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from research.services.api_tokens import NAME_LENGTH, Scope

VALIDITIES = [
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("365", _("A year")),
    ("", _("Until revoked")),
]
ACCESS = [
    ("read write", _("Read and write: start, steer and delete runs")),
    ("read", _("Read only")),
]


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=NAME_LENGTH,
        widget=forms.TextInput(attrs={"placeholder": _("Chat client"), "autocomplete": "off"}),
        error_messages={"required": _("Enter the name of the program that will use it.")},
    )
    access = forms.ChoiceField(label=_("Access"), choices=ACCESS, initial=ACCESS[0][0])
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        required=False,
        choices=VALIDITIES,
        initial="90",
        coerce=int,
        empty_value=None,
    )
    max_cost_usd = forms.FloatField(
        label=_("Budget per run, in dollars"),
        required=False,
        help_text=_("Leave empty for the server's limit."),
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )

    use_required_attribute = False

    def scopes(self) -> list[Scope]:
        return [Scope(name) for name in self.cleaned_data["access"].split()]
