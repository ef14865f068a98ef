"""Forms for a run that waits for input or is researching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext_lazy as _

from research.engine.limits import MOST_PARTS, USUAL_PARTS
from research.engine.threads.start import PLAN_TERMS
from research.engine.threads.user_commands import INSTRUCTION_LENGTH
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
        help_text=_("A question of its own, which the next round searches for."),
        max_length=TEXT_LENGTH,
        widget=forms.TextInput(
            attrs={
                "placeholder": _("Who disagrees?"),
                "autocomplete": "off",
                "aria-describedby": "topic-help topic-problem",
            }
        ),
        error_messages={"required": _("Write what to find out.")},
    )

    use_required_attribute = False


KEEP_IN_MIND = _("What should this run keep in mind?")
ONLY_RECENT = _("Only sources since 2023")


def instruction_field(example: Any, help_text: Any, *, required: bool = True) -> forms.CharField:
    """Return a field for an instruction; text above the maximum length is rejected, not cut."""
    return forms.CharField(
        label=KEEP_IN_MIND,
        help_text=help_text,
        required=required,
        validators=[
            MaxLengthValidator(
                INSTRUCTION_LENGTH,
                _("It has %(show_value)s characters; the maximum is %(limit_value)s."),
            )
        ],
        widget=forms.TextInput(
            attrs={
                "placeholder": example,
                "autocomplete": "off",
                "aria-describedby": "instruction-help instruction-problem",
            }
        ),
        error_messages={"required": _("Write what this run should keep in mind.")},
    )


class InstructionForm(forms.Form):
    """An instruction in words for a run at work."""

    text = instruction_field(
        ONLY_RECENT,
        _("For the whole run, not a question to research. What comes after this step follows it."),
    )

    use_required_attribute = False


class CommentForm(forms.Form):
    """A comment on the plan. `along` has the edits of the plan form submitted with it, `kept` what
    the person told the run while the plan was made.
    """

    comment = forms.CharField(
        label=_("What should be different?"),
        max_length=TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": _("Say what should be different.")},
    )

    use_required_attribute = False

    def __init__(self, data: Any = None, along: str = "", kept: str = "") -> None:
        super().__init__(data, initial={"comment": kept})
        self.along = along

    def clean_comment(self) -> str:
        whole = f"{self.cleaned_data['comment']}\n\n{self.along}".strip()
        if len(whole) > TEXT_LENGTH:
            raise forms.ValidationError(
                _("With the changes above it has %(n)s characters; the maximum is %(most)s.")
                % {"n": f"{len(whole):,}", "most": f"{TEXT_LENGTH:,}"}
            )
        return whole


SPARE = 2
CONSENT = "searches_private_words"
LABELS = {"scope": _("Scope"), "evidence_strategy": _("Evidence"), "output_format": _("Output")}


@dataclass(frozen=True)
class Line:
    """A sub-question and its position."""

    text: forms.BoundField
    place: forms.BoundField


class PlanForm(forms.Form):
    """Form for a stored `plan`, with a line for each sub-question that a plan may have. The style
    sheet hides all empty lines but the first two.

    `is_quick` is for runs whose plan has fewer;
    `with_terms` adds scope, evidence and output, which only a model uses; `with_consent` asks
    whether words of documents may be sent to web searches; `depths` are the run's depth and others
    to choose from, and `with_instruction` adds a field for what the run should keep in mind.
    """

    def __init__(
        self,
        plan: Mapping[str, Any],
        with_terms: bool,
        data: Any = None,
        with_consent: bool = False,
        is_quick: bool = False,
        depths: Sequence[tuple[str, str]] = (),
        with_instruction: bool = False,
    ) -> None:
        super().__init__(data)
        texts = [aspect["text"] for aspect in plan.get("aspects", ())]
        self._planned = texts
        most = USUAL_PARTS if is_quick else MOST_PARTS
        self._numbers = range(1, max(most, len(texts) + SPARE) + 1)
        spare = [""] * (len(self._numbers) - len(texts))
        for number, text in zip(self._numbers, [*texts, *spare], strict=True):
            self.fields[f"line-{number}"] = _line(number, text)
            self.fields[f"place-{number}"] = _place(number)
        self._terms = PLAN_TERMS if with_terms else ()
        for name in self._terms:
            self.fields[name] = forms.CharField(
                label=LABELS[name],
                initial=plan.get(name, ""),
                required=False,
                max_length=TEXT_LENGTH,
                widget=forms.Textarea(attrs={"rows": 1}),
            )

        self._with_consent = with_consent
        if with_consent:
            self.fields[CONSENT] = forms.BooleanField(
                label=_("Web searches may use words found only in my documents"),
                initial=plan.get(CONSENT, False),
                required=False,
            )

        if depths:
            self.fields["depth"] = forms.ChoiceField(
                label=_("Depth"),
                choices=depths,
                initial=depths[0][0],
                required=False,
                widget=forms.RadioSelect,
            )
        if with_instruction:
            self.fields["instruction"] = instruction_field(
                ONLY_RECENT,
                _(
                    "Optional, such as “Leave out vendor blogs”. It is followed from the start, "
                    "also by a new plan."
                ),
                required=False,
            )

    def keep_instruction(self, text: str) -> None:
        """Begin with what was typed before the plan was there."""
        if "instruction" in self.fields:
            self.fields["instruction"].initial = text

    @property
    def depth_field(self) -> forms.BoundField | None:
        return self["depth"] if "depth" in self.fields else None

    @property
    def depth(self) -> str | None:
        """Return the chosen depth; None if it is that of the run."""
        chosen = self.cleaned_data.get("depth")
        return chosen if chosen and "depth" in self.changed_data else None

    @property
    def instruction_field(self) -> forms.BoundField | None:
        return self["instruction"] if "instruction" in self.fields else None

    @property
    def instruction(self) -> str:
        return str(self.cleaned_data.get("instruction", ""))

    @property
    def has_misset_choices(self) -> bool:
        """Return whether what is sent beside the sub-questions and terms is invalid."""
        return not self.errors.keys().isdisjoint({"depth", "instruction"})

    @property
    def consent_field(self) -> forms.BoundField | None:
        """Return whether private words may be searched for; None if nothing private meets
        the web.
        """
        return self[CONSENT] if self._with_consent else None

    def consent(self) -> bool | None:
        return self.cleaned_data[CONSENT] if self._with_consent else None

    @property
    def lines(self) -> list[Line]:
        return [Line(self[f"line-{n}"], self[f"place-{n}"]) for n in self._numbers]

    @property
    def term_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self._terms]

    @property
    def has_misset_terms(self) -> bool:
        return any(field.errors for field in self.term_fields)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not self._texts(cleaned):
            raise forms.ValidationError(_("Keep at least one sub-question."))
        return cleaned

    def aspects(self) -> list[str]:
        """Return the edited sub-questions in order, each on a single line."""
        return self._texts(self.cleaned_data)

    def terms(self) -> dict[str, str]:
        return {name: " ".join(self.cleaned_data[name].split()) for name in self._terms}

    def changes(self) -> str:
        """Return the edits as text to append to a comment; '' if nothing was changed."""
        if not self.is_valid():
            return ""
        lines, said = self.aspects(), []
        if lines != [" ".join(text.split()) for text in self._planned]:
            said = [
                str(_("The sub-questions as I changed them:")),
                *(f"- {line}" for line in lines),
            ]
        changed = [name for name in self._terms if name in self.changed_data]
        return "\n".join([*said, *(f"{LABELS[name]}: {self.terms()[name]}" for name in changed)])

    def _texts(self, cleaned: Mapping[str, Any]) -> list[str]:
        texts = (" ".join(cleaned.get(f"line-{n}", "").split()) for n in self._order(cleaned))
        return [text for text in texts if text]

    def _order(self, cleaned: Mapping[str, Any]) -> list[int]:
        """Return line numbers in display order. Lines that were not moved make room for the others.

        If several lines were sent to the same position, the first one comes first. Lines without a
        position come last.
        """
        last = len(self._numbers) + 1
        places = {n: cleaned.get(f"place-{n}") or last for n in self._numbers}
        order = [n for n in self._numbers if places[n] == n]
        free = 1
        for n in sorted(set(self._numbers) - set(order), key=lambda n: (places[n], n)):
            free = max(free, places[n])
            order.insert(free - 1, n)
            free += 1
        return order


def _line(number: int, text: str) -> forms.CharField:
    return forms.CharField(
        label=_("Sub-question %(n)s") % {"n": number},
        initial=text,
        required=False,
        max_length=TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 1, "placeholder": _("Add one")}),
    )


def _place(number: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=_("Position of line %(n)s") % {"n": number},
        initial=number,
        required=False,
        min_value=1,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
