"""Asking: the box, the samples, the list of runs."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import queries, sources
from dashboard import samples as sample_questions
from dashboard.ask_forms import AskForm, FindForm, KnobsForm, MoreForm, SampleForm, new_key
from dashboard.contexts.lists import paging, run_line
from dashboard.mistakes import focus_on_first
from dashboard.more import values as more_values
from research import at_work, installation
from research.engine.config import ResearchConfig
from research.models import Run
from research.services import runs
from research.services.errors import ServiceError

TICKED = ("collections", "search_kind")
"""Fields of which several values are sent."""


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    form = AskForm(request.user, request.POST or None, initial=asked_for(request))
    more = MoreForm(request.POST or None)
    if request.method == "POST":
        is_asked = form.is_valid()
        config = more.check(form.knobs() if is_asked else {})
        run = start(request, form, config) if is_asked and config else None
        if run is not None:
            return redirect("run", run.public_id)
    focus_on_first(form, more)
    status = 422 if form.is_bound else 200
    context = {**ask_context(request, form), "form": form, "more": more}
    return render(request, "dashboard/ask.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def ask_with_settings(request: HttpRequest) -> HttpResponse:
    """The box with every knob beneath it; what was typed in the plain form comes along."""
    if request.method != "POST" or "settings" in request.POST:
        typed: dict[str, Any] = request.POST.dict() if request.method == "POST" else {}
        typed |= {name: ticked for name in TICKED if (ticked := request.POST.getlist(name))}
        form = AskForm(request.user, initial=typed)
        knobs_form = KnobsForm(initial=more_values(typed))
        return render(request, "dashboard/ask_settings.html", {"form": form, "knobs": knobs_form})
    form, knobs_form = AskForm(request.user, request.POST), KnobsForm(request.POST)
    if form.is_valid() & knobs_form.is_valid():
        run = start(request, form, knobs_form.config)
        if run is not None:
            return redirect("run", run.public_id)
    context = {"form": form, "knobs": knobs_form}
    return render(request, "dashboard/ask_settings.html", context, status=422)


def asked_for(request: HttpRequest) -> dict[str, object]:
    """The collection that a link names is what the question is for."""
    named = request.GET.get("collection")
    return {"sources": "documents", "collections": [named]} if named else {}


def start(request: HttpRequest, form: AskForm, config: ResearchConfig) -> Run | None:
    """The run, or None where the service refused, with its reason in the form."""
    try:
        return runs.ask(
            request.user,
            form.cleaned_data["question"],
            agreed=form.starts_at_once,
            config=config.model_copy(update={"ask_above_usd": form.asks_above(config)}),
            sources=form.chosen_sources(),
            idempotency_key=form.cleaned_data["key"],
        )
    except ServiceError as error:
        form.add_error("question", str(error))
        return None


def ask_context(request: HttpRequest, form: AskForm) -> dict[str, object]:
    now = installation.current()
    return {
        "page": "ask",
        "at_work": [
            f"Model: {at_work.analyst(now)}",
            f"Search: {sources.at_work(now, form.collections)}",
        ],
        "samples": [
            {"slug": sample.slug, "question": sample.question, "key": new_key()}
            for sample in sample_questions.samples()
        ],
        "recent": [run_line(run) for run in queries.recent_runs(request.user)],
    }


@require_http_methods(["GET", "POST"])
def try_sample(request: HttpRequest, slug: str) -> HttpResponse:
    """A sample runs over the sample library, whatever else is configured."""
    if request.method == "GET":
        return redirect("ask")
    sample = sample_questions.find(slug)
    form = SampleForm(request.POST)
    if sample is None or not form.is_valid():
        raise Http404("no such sample")
    try:
        run = runs.ask(
            request.user,
            sample.question,
            agreed=True,
            sources={"search": ["samples"]},
            idempotency_key=form.cleaned_data["key"],
        )
    except ServiceError as error:
        messages.error(request, str(error))
        return redirect("ask")
    return redirect("run", run.public_id)


@require_GET
def list_runs(request: HttpRequest) -> HttpResponse:
    form = FindForm(request.GET)
    wanted = form.cleaned_data if form.is_valid() else {}
    page = queries.page_of_runs(request.user, request.GET.get("page"), **wanted)
    context = {
        "page": "runs",
        "find": form,
        "narrowed": any(wanted.values()),
        "runs": [run_line(run) for run in page],
        "paging": paging(page, wanted),
    }
    return render(request, "dashboard/runs.html", context)
