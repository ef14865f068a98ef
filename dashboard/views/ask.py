"""The question form and the samples."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

import research
from dashboard.contexts.lists import run_line
from dashboard.forms import sources
from dashboard.forms.advanced_options import knob_values as more_values
from dashboard.forms.ask_forms import TEMPLATES, AskForm, KnobsForm, MoreForm, new_key
from dashboard.forms.form_errors import by_form, focus_on_first
from dashboard.forms.sources import describe_model
from dashboard.last_test import failed_model
from dashboard.queries import queries, usage
from dashboard.stored_texts import worded
from research.engine.config import ResearchConfig
from research.models import Run
from research.runtime import installation
from research.runtime.status_summary import search_reach
from research.services import documents, runs, sample_reports
from research.services.errors import ServiceError
from research.services.runs import QUESTION_LENGTH

TICKED = ("collections", "search_kind")
"""Multiple-choice fields."""


@require_http_methods(["GET", "HEAD", "POST"])
def ask_question(request: HttpRequest) -> HttpResponse:
    data, files = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = AskForm(request.user, data, files, initial=asked_for(request))
    more = MoreForm(request.POST or None)
    if request.method == "POST":
        is_asked = form.is_valid()
        config = more.check(form.knobs() if is_asked else {})
        run = start_run(request, form, config) if is_asked and config else None
        if run is not None:
            return redirect("run", run.public_id)
    focus_on_first(form, more)
    status = 422 if form.is_bound else 200
    context = {**ask_context(request, form), "form": form, "more": more}
    return render(request, "dashboard/ask.html", context, status=status)


@require_GET
def suggest_questions(request: HttpRequest) -> HttpResponse:
    """Render the user's earlier questions that contain the words typed so far."""
    found = queries.similar_questions(request.user, request.GET.get("q", ""))
    context = {"found": [run_line(run) for run in found]}
    return render(request, "dashboard/_asked_before.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def ask_with_settings(request: HttpRequest) -> HttpResponse:
    """Render the question form with every knob, keeping the values entered in the plain form."""
    if request.method != "POST" or "settings" in request.POST:
        typed: dict[str, Any] = request.POST.dict() if request.method == "POST" else {}
        typed |= {name: ticked for name in TICKED if (ticked := request.POST.getlist(name))}
        form = AskForm(request.user, initial=typed)
        knobs_form = KnobsForm(initial=more_values(typed))
        context = {"form": form, "knobs": knobs_form, **reach_context(request, form)}
        return render(request, "dashboard/ask_settings.html", context)
    form, knobs_form = AskForm(request.user, request.POST), KnobsForm(request.POST)
    if form.is_valid() & knobs_form.is_valid():
        run = start_run(request, form, knobs_form.config)
        if run is not None:
            return redirect("run", run.public_id)
    context = {"form": form, "knobs": knobs_form, **reach_context(request, form)}
    return render(request, "dashboard/ask_settings.html", context, status=422)


def asked_for(request: HttpRequest) -> dict[str, object]:
    """Return initial values for a link that names a question or a collection."""
    named, question = request.GET.get("collection"), request.GET.get("question", "")
    chosen = {"sources": "documents", "collections": [named]} if named else {}
    return chosen | ({"question": question} if question else {})


def start_run(request: HttpRequest, form: AskForm, config: ResearchConfig) -> Run | None:
    """Start a run; None if the service refused it, with the reason added to the form."""
    attached = attach_files(request, form) if form.attached_files else None
    if form.errors:
        return None
    try:
        run = runs.ask_question(
            request.user,
            form.cleaned_data["question"],
            agreed=form.starts_at_once,
            config=config.model_copy(update={"ask_above_usd": form.asks_above(config)}),
            sources=form.sources_with(attached) if attached else form.chosen_sources(),
            idempotency_key=form.cleaned_data["key"],
        )
    except ServiceError as error:
        form.add_error("question", worded(str(error)))
        return None
    if attached:
        documents.keep_with(run, attached["id"])
    return run


def attach_files(request: HttpRequest, form: AskForm) -> dict[str, str] | None:
    """Store the files sent with a question; None if none can be used, which the form then says."""
    asked = form.cleaned_data
    try:
        made, done = documents.attach_files(
            request.user, asked["question"], asked["key"], form.attached_files
        )
    except ServiceError as error:
        form.add_error("files", worded(str(error)))
        return None
    for file in done.refused:
        messages.warning(
            request,
            gettext("%(name)s was left out: %(reason)s.")
            % {"name": file.name, "reason": worded(file.reason)},
        )
    return {"id": made.public_id, "name": made.name}


def ask_context(request: HttpRequest, form: AskForm) -> dict[str, object]:
    now = installation.current_installation()
    recent = queries.recent_runs(request.user)
    reach = reach_context(request, form)
    named = sources.at_work_by_choice(now, form.choices, form.collections)
    searched = {key: gettext("Search: %(names)s") % {"names": each} for key, each in named.items()}
    model = (
        [gettext("Model: %(name)s") % {"name": describe_model(now)}] if reach["has_model"] else []
    )
    return {
        "page": "ask",
        "templates": TEMPLATES,
        "longest_question": QUESTION_LENGTH,
        **reach,
        "at_work": model,
        "searched": searched,
        "samples": [_sample_line(sample) for sample in load_samples()],
        "recent": [run_line(run) for run in recent],
        "overdue": usage.overdue_call(recent),
    }


def reach_context(request: HttpRequest, form: AskForm) -> dict[str, Any]:
    """Return what limits every question of this installation: no model, one that failed its last
    test, or nothing to search.
    """
    now = installation.current_installation()
    return {
        "has_model": now.model_settings is not None,
        "failed_model": failed_model(request.session, now),
        "only_samples": search_reach(now) == "samples" and not form.collections,
    }


def _sample_line(sample: Sample) -> dict[str, object]:
    return {
        "slug": sample.slug,
        "question": worded(sample.question),
        "hint": worded(sample.hint),
        "key": new_key(),
        "summary": worded(sample_reports.describe_sample(sample.slug)),
    }


@by_form
def read_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the finished report of a sample question."""
    try:
        run = sample_reports.open_sample(request.user, slug)
    except ServiceError as error:
        raise Http404(error) from None
    return redirect("run", run.public_id)


@require_http_methods(["GET", "POST"])
def try_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a run over the sample library, whatever else is configured."""
    if request.method == "GET":
        return redirect("ask")
    sample = find_sample(slug)
    form = SampleForm(request.POST)
    if sample is None or not form.is_valid():
        raise Http404("no such sample")
    try:
        run = runs.ask_question(
            request.user,
            sample.question,
            agreed=True,
            sources={"search": ["samples"]},
            idempotency_key=form.cleaned_data["key"],
        )
    except ServiceError as error:
        messages.error(request, worded(str(error)))
        return redirect("ask")
    return redirect("run", run.public_id)


QUESTIONS = Path(research.__file__).parent / "samples" / "questions.json"


@dataclass(frozen=True)
class Sample:
    slug: str
    question: str
    hint: str


@cache
def load_samples() -> tuple[Sample, ...]:
    entries = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    return tuple(
        Sample(slugify(entry["question"]), entry["question"], entry.get("hint", ""))
        for entry in entries
    )


def find_sample(slug: str) -> Sample | None:
    return next((sample for sample in load_samples() if sample.slug == slug), None)


class SampleForm(forms.Form):
    """The button that starts a sample. `key` is its idempotency key."""

    key = forms.CharField(max_length=64)
