"""Forms for a run that waits for input or is researching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from research.services.runs import TEXT_LENGTH


class ClarificationForm(forms.Form):
    """A field for each clarifying question. Empty answers are skipped."""

    def __init__(self, questions: Sequence[str], data: Any = None) -> None:
        super().__init__(data)
        self.questions = questions
        for number, question in enumerate(questions):
            self.fields[f"answer-{number}"] = forms.CharField(
                label=question,
                required=False,
                max_length=TEXT_LENGTH,
                widget=forms.Textarea(attrs={"rows": 2}),
            )

    def answers(self) -> list[str]:
        """Return an answer for each question; '' if the field was left empty."""
        return [self.cleaned_data[f"answer-{number}"] for number in range(len(self.questions))]


class TopicForm(forms.Form):
    topic = forms.CharField(
        label=_("Add a sub-question"),
        max_length=TEXT_LENGTH,
        widget=forms.TextInput(
            attrs={
                "placeholder": _("Add your own"),
                "autocomplete": "off",
                "aria-describedby": "topic-problem",
            }
        ),
        error_messages={"required": _("Write what to find out.")},
    )

    use_required_attribute = False


class CommentForm(forms.Form):
    """A comment on the plan. `along` has the edits of the plan form submitted with it."""

    comment = forms.CharField(
        label=_("What should be different?"),
        max_length=TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": _("Say what should be different.")},
    )

    use_required_attribute = False

    def __init__(self, data: Any = None, along: str = "") -> None:
        super().__init__(data)
        self.along = along

    def clean_comment(self) -> str:
        whole = f"{self.cleaned_data['comment']}\n\n{self.along}".strip()
        if len(whole) > TEXT_LENGTH:
            raise forms.ValidationError(
                _("With the changes above it has %(n)s characters; the maximum is %(most)s.")
                % {"n": f"{len(whole):,}", "most": f"{TEXT_LENGTH:,}"}
            )
        return whole
