"""What people send to ask a question, with what they change for it, and to find a run again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django import forms

from dashboard import knobs, more, queries, sources
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.installation import current
from research.services import documents
from research.services.runs import QUESTION_LENGTH


def new_key() -> str:
    """One for each shown form: sent twice, it makes one run."""
    return secrets.token_urlsafe(16)


class AskForm(forms.Form):
    question = forms.CharField(
        max_length=QUESTION_LENGTH,
        widget=forms.Textarea(
            attrs={
                "rows": 3,
                "autofocus": True,
                "placeholder": "A whole question works best",
                "aria-describedby": "question-problem",
            }
        ),
        error_messages={
            "required": "Write a question first.",
            "max_length": f"A question has at most {QUESTION_LENGTH:,} characters.",
        },
    )
    ask_first = forms.BooleanField(required=False)
    research_depth = forms.ChoiceField(
        required=False,
        choices=[
            ("quick", "Quick"),
            ("standard", "Standard"),
            ("thorough", "Thorough"),
        ],
        initial=lambda: current().defaults.research_depth,
        widget=forms.RadioSelect,
    )
    key = forms.CharField(max_length=64, widget=forms.HiddenInput, initial=new_key)

    use_required_attribute = False

    def __init__(
        self, asker: queries.Viewer, data: Any = None, initial: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        now = current()
        self.asker = asker
        self.collections = queries.collections_to_ask(asker)
        self.choices = sources.choices(now, self.collections)
        if len(self.choices) > 1:
            self._offer_sources(sources.initial(asker, self.choices, self.collections, now))

    def _offer_sources(self, initial: Mapping[str, Any]) -> None:
        self.fields["sources"] = forms.ChoiceField(
            required=False,
            choices=[(name, sources.LABELS[name]) for name in self.choices],
            initial=initial["sources"],
            error_messages={"invalid_choice": "That cannot be searched here."},
            widget=forms.RadioSelect,
        )
        if self.collections:
            self.fields["collections"] = forms.MultipleChoiceField(
                required=False,
                choices=[(row.public_id, row.name) for row in self.collections],
                initial=initial["collections"],
                error_messages={"invalid_choice": "Those documents are not there any more."},
                widget=forms.CheckboxSelectMultiple,
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self._wants_collections(cleaned) and not cleaned.get("collections"):
            self.add_error("collections", "Choose at least one of your documents.")
        return cleaned

    def chosen_sources(self) -> Mapping[str, Any] | None:
        """What was chosen to be searched; None leaves it to the installation."""
        chosen = self.choices.get(self.cleaned_data.get("sources", ""))
        if chosen is None or not self._wants_collections(self.cleaned_data):
            return chosen
        wanted = documents.chosen(self.asker, self.cleaned_data["collections"])
        return sources.with_collections(chosen, wanted)

    def _wants_collections(self, cleaned: Mapping[str, Any]) -> bool:
        chosen = self.choices.get(cleaned.get("sources", ""))
        is_offered = "collections" in self.fields and "collections" not in self.errors
        return is_offered and chosen is not None and sources.searches_documents(chosen)

    @property
    def starts_at_once(self) -> bool:
        """A quick run asks nothing, unless somebody wants to see its plan."""
        quick = self.cleaned_data["research_depth"] == "quick"
        return quick and not self.cleaned_data["ask_first"]

    def asks_above(self, config: ResearchConfig) -> float | None:
        """What a plan may cost to start without asking: nothing where none is named; None where
        the plan is wanted at any price."""
        return None if self.cleaned_data["ask_first"] else config.ask_above_usd or 0.0

    def knobs(self) -> dict[str, str]:
        depth = self.cleaned_data["research_depth"]
        return {"research_depth": depth} if depth else {}


class MoreForm(forms.Form):
    """The knobs that people change for one question; `knobs.py` has all of them.

    Each field has its knob's name, but that time is in minutes here.
    """

    use_required_attribute = False

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields.update(more.fields(current().defaults))

    @property
    def is_changed(self) -> bool:
        """Whether something here is to be seen: a choice or a mistake."""
        return self.is_bound and (self.has_changed() or bool(self.errors))

    def check(self, chosen: Mapping[str, str]) -> ResearchConfig | None:
        """The installation's knobs with `chosen` and what was sent here; None with the mistakes
        beside the fields.
        """
        if not self.is_valid():
            return None
        sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
        try:
            return ResearchConfig.from_strings({**chosen, **more.values(sent)}, current().defaults)
        except ConfigError as error:
            tell_problems(self, more.by_field(error.problems))
            return None


def tell_problems(form: forms.Form, problems: Mapping[str, str]) -> None:
    """Each beside its field; what concerns several above them."""
    for name, problem in problems.items():
        form.add_error(name or None, f"{problem[:1].upper()}{problem[1:]}.")


class KnobsForm(forms.Form):
    """Every knob of a run, as the installation has it; what is changed holds for one run."""

    use_required_attribute = False

    def __init__(self, data: Any = None, initial: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.fields.update(knobs.fields(current().defaults))

    def groups(self) -> list[tuple[str, list[tuple[forms.BoundField, str]]]]:
        """Title and fields of each group, each field with its unit."""
        units = knobs.units()
        return [
            (title, [(self[name], units[name]) for name in names])
            for title, names in knobs.groups()
        ]

    def misset(self) -> list[forms.BoundField]:
        """Those that were sent with a mistake; the page is long."""
        return [field for field in self if field.errors]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        values = {name.upper(): knobs.as_text(value) for name, value in cleaned.items()}
        try:
            self.config = ResearchConfig.from_strings(values, current().defaults)
        except ConfigError as error:
            tell_problems(self, error.problems)
        return cleaned


class FindForm(forms.Form):
    """What the list of runs is narrowed to."""

    text = forms.CharField(
        required=False,
        max_length=200,
        label="Words of the question",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Words of the question"}),
    )
    state = forms.ChoiceField(
        required=False,
        label="State",
        choices=[
            ("", "Any state"),
            ("waiting", "Waits for you"),
            ("working", "At work"),
            ("done", "Done"),
            ("nothing_found", "Nothing found"),
            ("failed", "Failed or cancelled"),
        ],
    )


class SampleForm(forms.Form):
    key = forms.CharField(max_length=64)
