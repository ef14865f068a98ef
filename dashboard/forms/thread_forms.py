"""Forms for a finished report: follow-up question, other format, deeper research."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.forms.form_errors import too_long
from dashboard.forms.knob_labels import CHOICES
from dashboard.forms.knobs import DecimalField, as_typed
from research.services.threads import READER_LENGTH, REASONS, TURN_LENGTH

ADD_USD = 0.25
MOST_USD = 1_000


class FollowUpForm(forms.Form):
    """The next question. Without `at_once`, earlier findings alone never answer it."""

    said = forms.CharField(
        label=_("Ask a follow-up"),
        widget=forms.Textarea(
            attrs={
                "rows": 2,
                "placeholder": _("Your next question"),
                "data-empty": _("Write a question first."),
            }
        ),
        error_messages={"required": _("Write a question first.")},
    )
    depth = forms.ChoiceField(
        label=_("Depth"),
        required=False,
        choices=[
            ("", _("From what was found, if it suffices")),
            ("quick", _("New research: quick")),
            ("standard", _("New research: standard")),
            ("thorough", _("New research: thorough")),
        ],
    )
    use_required_attribute = False

    def clean_said(self) -> str:
        """Return the question; the browser doesn't limit its length, so that nothing is cut."""
        said = "\n".join(self.cleaned_data["said"].splitlines())
        if len(said) > TURN_LENGTH:
            raise forms.ValidationError(too_long(said, TURN_LENGTH))
        return said

    def __init__(self, data: Any = None, *, at_once: bool = True) -> None:
        super().__init__(data)
        self.at_once = at_once
        if not at_once:
            self.fields["depth"].choices = [("", _("Same depth")), *CHOICES["research_depth"]]


class ReshapeForm(forms.Form):
    form = forms.ChoiceField(
        choices=[(name, name) for name in REASONS],
        error_messages={"invalid_choice": _("A report can't be rewritten like that.")},
    )
    reader = forms.CharField(
        label=_("For another reader"),
        required=False,
        max_length=READER_LENGTH,
        widget=forms.TextInput(attrs={"placeholder": _("a manager, a student, …")}),
    )
    use_required_attribute = False

    def clean(self) -> dict[str, Any]:
        sent: dict[str, Any] = super().clean() or {}
        if sent.get("form") == "reader" and not sent.get("reader"):
            self.add_error("reader", _("Say in a few words who will read it."))
        return sent


class DeeperForm(forms.Form):
    """The sub-questions to research further.

    `choices` are (label, text) pairs, `ticked` the labels selected initially. With `capped`, the
    form has a field for additional budget in USD, as the run had a cost limit.
    """

    aspects = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": _("Choose at least one question to dig deeper on."),
            "invalid_choice": _("This run has no such question."),
        },
    )
    cost_usd = DecimalField(
        label=_("Add at most, in dollars"),
        required=False,
        min_value=0.01,
        max_value=MOST_USD,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 6}),
        error_messages={"invalid": _("Enter a number of dollars, such as 0.25.")},
    )
    use_required_attribute = False

    def __init__(
        self,
        choices: Sequence[tuple[str, str]],
        ticked: Sequence[str] = (),
        capped: bool = True,
        data: Any = None,
    ) -> None:
        super().__init__(data, initial={"aspects": list(ticked), "cost_usd": as_typed(ADD_USD)})
        self.fields["aspects"].choices = list(choices)
        if not capped:
            del self.fields["cost_usd"]

    def problems(self) -> list[str]:
        """Return the error messages as sentences."""
        return [message for messages in self.errors.values() for message in messages]
