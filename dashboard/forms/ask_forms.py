"""Forms to ask a question and change its knobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard.forms import advanced_options, knobs, sources
from dashboard.forms.form_errors import too_long
from dashboard.prices import always_shows_plan, explain_asking
from dashboard.queries import queries
from dashboard.queries.usage import usual_seconds
from dashboard.words import format_number, format_seconds
from research.documents.folder import CONTENT_TYPES
from research.engine.budget.estimate import estimate_depth
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.models import Collection
from research.runtime.installation import current_installation
from research.services.runs import QUESTION_LENGTH

TEMPLATES = (_("Compare … with …"), _("What changed in … since …?"), _("Is it true that …?"))
FEWEST_LETTERS = 2
ENDS = " .?？!"


def new_key() -> str:
    """Return an idempotency key for a form, so that submitting it twice creates one run."""
    return secrets.token_urlsafe(16)


def describe_depth(
    defaults: ResearchConfig, depth: str, *, has_model: bool, usual: float | None = None
) -> list[str]:
    """Return the length of a model's report, and its `usual` seconds or, if they are not known, the
    most rounds of research unless their number is fixed.
    """
    config = defaults.model_copy(update={"research_depth": depth})
    reach = estimate_depth(config)
    told = []
    if has_model:
        least, most = map(format_number, reach.words)
        told.append(gettext("%(least)s–%(most)s words") % {"least": least, "most": most})
    if usual is not None:
        told.append(gettext("usually %(time)s") % {"time": format_seconds(usual)})
    elif config.deep_research_mode != "fixed":
        told.append(_describe_rounds(*reach.rounds))
    return told


def _describe_rounds(least: int, most: int) -> str:
    """Return after how many rounds a run ends at the latest, by how complex its question is."""
    if least == most:
        text = ngettext("up to %(n)s round", "up to %(n)s rounds", most)
        return text % {"n": format_number(most)}
    numbers = {"least": format_number(least), "most": format_number(most)}
    return gettext("%(least)s–%(most)s rounds") % numbers


def has_gaps(question: str) -> bool:
    """Return whether a question is a template with a gap that is not filled in."""
    return any("…" in gap for template in TEMPLATES for gap in _gaps(str(template), question))


def _gaps(template: str, question: str) -> list[str]:
    """Return the text in each gap of a template; [] if the question doesn't follow it."""
    first, *parts = template.rstrip(ENDS).split("…")
    rest, found = question.rstrip(ENDS), list[str]()
    if not rest.startswith(first):
        return []
    rest = rest.removeprefix(first)
    for part in parts:
        gap, told, rest = rest.partition(part) if part else (rest, "end", "")
        if not told:
            return []
        found.append(gap)
    return found


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; the service decides which of them can be used."""

    widget = FilesInput(attrs={"accept": ",".join(CONTENT_TYPES)})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        return [file for file in data or [] if file]


class AskForm(forms.Form):
    """The question, its depth and the sources to search."""

    question = forms.CharField(
        widget=forms.Textarea(
            attrs={
                "rows": 3,
                "autofocus": True,
                "placeholder": _("Ask a full question"),
                "aria-describedby": "question-problem",
            }
        ),
        error_messages={"required": _("Write a question first.")},
    )
    ask_first = forms.BooleanField(required=False)
    research_depth = forms.ChoiceField(
        required=False,
        choices=[
            ("quick", _("Quick")),
            ("standard", _("Standard")),
            ("thorough", _("Thorough")),
        ],
        initial=lambda: current_installation().defaults.research_depth,
        widget=forms.RadioSelect,
    )
    files = FilesField(required=False)
    only_files = forms.BooleanField(required=False)
    key = forms.CharField(max_length=64, widget=forms.HiddenInput, initial=new_key)

    use_required_attribute = False

    def __init__(
        self,
        asker: queries.Viewer,
        data: Any = None,
        files: Any = None,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, files, initial=dict(initial or {}))
        now = current_installation()
        self.asker = asker
        self.price_hint = explain_asking()
        self.always_plans = always_shows_plan()
        self.collections = self._offered_collections()
        self.choices = sources.available_sources(now, self.collections)
        if len(self.choices) > 1:
            self._offer_sources(sources.initial_choice(asker, self.choices, self.collections, now))

    def _offered_collections(self) -> list[Collection]:
        """Return the collections to choose from. Files that were attached to a question belong to
        it, so they are offered for another one only if they are asked for.
        """
        asked_for = self.initial.get("collections", ())
        named = self.data.getlist("collections") if self.is_bound else asked_for
        found = queries.collections_to_ask(self.asker)
        return [row for row in found if not row.is_attached or row.public_id in named]

    def _offer_sources(self, initial: Mapping[str, Any]) -> None:
        self.fields["sources"] = forms.ChoiceField(
            required=False,
            choices=[(name, sources.LABELS[name]) for name in self.choices],
            initial=initial["sources"],
            error_messages={"invalid_choice": _("That cannot be searched here.")},
            widget=forms.RadioSelect,
        )
        if self.collections:
            self.fields["collections"] = forms.MultipleChoiceField(
                required=False,
                choices=[(row.public_id, row.name) for row in self.collections],
                initial=initial["collections"],
                error_messages={"invalid_choice": _("These documents no longer exist.")},
                widget=forms.CheckboxSelectMultiple,
            )

    def clean_question(self) -> str:
        """Return the question; refuse one that is too long, too short, or a template with gaps.

        The browser doesn't limit its length, so that nothing that is pasted is cut.
        """
        question = "\n".join(self.cleaned_data["question"].splitlines())
        if len(question) > QUESTION_LENGTH:
            raise forms.ValidationError(too_long(question, QUESTION_LENGTH))
        if sum(map(str.isalnum, question)) < FEWEST_LETTERS:
            told = gettext("This is too short to search for. Ask a question of a few words.")
            raise forms.ValidationError(told)
        if has_gaps(question):
            raise forms.ValidationError(gettext("Fill in the gaps (…) first."))
        return question

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("only_files") and not self.attached_files:
            told = _("Choose the files first, or untick “Search only these files”.")
            self.add_error("files", told)
        is_empty = not cleaned.get("collections") and not self.attached_files
        if self._wants_collections(cleaned) and is_empty:
            self.add_error("collections", _("Choose at least one collection."))
        return cleaned

    @property
    def depths(self) -> list[tuple[Any, list[str]]]:
        """Return the choices of depth, each with what it gives and takes."""
        now = current_installation()
        model = now.model_settings
        usual = usual_seconds(self.asker, model.research_model) if model else {}
        return [
            (
                choice,
                describe_depth(
                    now.defaults,
                    choice.data["value"],
                    has_model=model is not None,
                    usual=usual.get(choice.data["value"]),
                ),
            )
            for choice in self["research_depth"]
        ]

    @property
    def attached_files(self) -> list[Any]:
        return self.files.getlist("files") if self.files else []

    def sources_with(self, attached: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the selected sources with a collection of attached files."""
        alone = self.cleaned_data["only_files"]
        return sources.with_attached(
            self.chosen_sources(), attached, current_installation(), alone=alone
        )

    def chosen_sources(self) -> dict[str, Any] | None:
        """Return the selected sources; None for the installation's default."""
        chosen = self.choices.get(self.cleaned_data.get("sources", ""))
        wanted = (
            self.cleaned_data["collections"] if self._wants_collections(self.cleaned_data) else ()
        )
        return sources.resolve_choice(self.asker, chosen, wanted)

    def _wants_collections(self, cleaned: Mapping[str, Any]) -> bool:
        chosen = self.choices.get(cleaned.get("sources", ""))
        is_offered = "collections" in self.fields and "collections" not in self.errors
        return is_offered and chosen is not None and sources.searches_documents(chosen)

    @property
    def starts_at_once(self) -> bool:
        """Return whether the plan needs no approval: a quick run, unless the plan was requested."""
        quick = self.cleaned_data["research_depth"] == "quick"
        return quick and not self.cleaned_data["ask_first"]

    def asks_above(self, config: ResearchConfig) -> float | None:
        """Return the estimated cost in USD above which the plan needs approval; None: always."""
        return None if self.cleaned_data["ask_first"] else config.ask_above_usd or 0.0

    def knobs(self) -> dict[str, str]:
        depth = self.cleaned_data["research_depth"]
        return {"research_depth": depth} if depth else {}


class MoreForm(forms.Form):
    """The knobs most often changed for one question. `KnobsForm` offers all of them.

    Fields are named after knobs; the time limit is in minutes here.
    """

    use_required_attribute = False

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields.update(advanced_options.option_fields(current_installation().defaults))

    @property
    def is_changed(self) -> bool:
        """Return whether the section must be expanded: a value was changed or is invalid."""
        return self.is_bound and (self.has_changed() or bool(self.errors))

    def check(self, chosen: Mapping[str, str]) -> ResearchConfig | None:
        """Return the installation's knobs updated with `chosen` and the submitted values.

        Return None if a value is invalid; the fields then carry the errors.
        """
        if not self.is_valid():
            return None
        sent = {name: value for name, value in self.cleaned_data.items() if name in self.data}
        try:
            return ResearchConfig.from_strings(
                {**chosen, **advanced_options.knob_values(sent)}, current_installation().defaults
            )
        except ConfigError as error:
            tell_problems(self, advanced_options.by_field(error.problems))
            return None


def tell_problems(form: forms.Form, problems: Mapping[str, str]) -> None:
    """Add errors to the form: to the field of that name, or to the whole form if the name is ''.

    Knobs are called by their plain names, as the page does.
    """
    for name, problem in problems.items():
        form.add_error(name or None, knobs.tell_problem(problem))


class KnobsForm(forms.Form):
    """Every knob of a run with the installation's value as default; changes apply to one run."""

    use_required_attribute = False

    def __init__(self, data: Any = None, initial: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.fields.update(knobs.knob_fields(current_installation().defaults))

    def groups(self) -> list[knobs.KnobGroup]:
        return knobs.form_groups(self, current_installation().defaults)

    def misset(self) -> list[forms.BoundField]:
        """Return the fields with errors, for a summary at the top of the long page."""
        return [field for field in self if field.errors]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        typed = {name: knobs.as_text(value) for name, value in cleaned.items()}
        typed |= {
            name: knobs.normalize_decimal(typed[name]) for name in knobs.DECIMALS & typed.keys()
        }
        values = {name.upper(): value for name, value in typed.items()}
        try:
            self.config = ResearchConfig.from_strings(values, current_installation().defaults)
        except ConfigError as error:
            tell_problems(self, error.problems)
        return cleaned
