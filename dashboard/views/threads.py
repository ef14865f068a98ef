"""Follow-ups to a report: revision, other format, deeper research and the next question."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from dashboard.contexts.thread import follow_up_form, has_model, thread_context
from dashboard.forms.form_errors import by_form
from dashboard.forms.thread_forms import DeeperForm, ReshapeForm
from dashboard.queries import queries, thread_queries
from dashboard.stored_texts import worded
from dashboard.views.run import page_of, send_command
from research.models import Run
from research.services import runs, threads
from research.services.errors import ServiceError


@require_GET
def show_thread(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render every question of a thread with the newest version of its report."""
    row = thread_queries.find_thread(request.user, public_id)
    context = {"thread": thread_context(row, thread_queries.thread_questions(row.pk))}
    return render(request, "dashboard/thread.html", context)


@by_form
def revise_report(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    return create_and_redirect(request, run, lambda: threads.revise_report(request.user, run))


@by_form
def reshape_report(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = ReshapeForm(request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, reshape_form=form)
    asked = form.cleaned_data
    return create_and_redirect(
        request,
        run,
        lambda: threads.reshape_report(request.user, run, asked["form"], asked["reader"]),
    )


@by_form
def dig_further(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    rows = thread_queries.asked_aspects(run)
    sent = request.POST.copy()
    if "on" in sent:
        sent.setlist("aspects", sent["on"].split())
    form = DeeperForm([(row.label, row.text) for row in rows], data=sent)
    if not form.is_valid():
        messages.error(request, " ".join(form.problems()))
        return redirect("run", run.public_id)
    asked = form.cleaned_data
    return create_and_redirect(
        request,
        run,
        lambda: threads.dig_deeper(request.user, run, asked["aspects"], asked["cost_usd"]),
    )


@by_form
def follow_up(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = follow_up_form(run, request.POST, has_model=has_model())
    if not form.is_valid():
        return page_of(request, run, 422, follow_up_form=form)
    said, depth = form.cleaned_data["said"], form.cleaned_data["depth"]
    return create_and_redirect(
        request, run, lambda: threads.follow_up(request.user, run, said, depth=depth)
    )


@by_form
def research_further(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    return create_and_redirect(request, run, lambda: threads.research_further(request.user, run))


@by_form
def ask_again(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    return create_and_redirect(request, run, lambda: runs.ask_again(request.user, run))


@by_form
def settle_topic(request: HttpRequest, public_id: str) -> HttpResponse:
    """Record whether a follow-up question belongs to its thread, as decided by its asker."""
    run = queries.find_run(request.user, public_id)
    tell = runs.start_anew if "anew" in request.POST else runs.keep_topic
    return send_command(request, run, lambda: tell(request.user, run))


def create_and_redirect(request: HttpRequest, run: Run, make: Callable[[], Run]) -> HttpResponse:
    """Create a run and redirect to it; back to `run` with a message if the service refuses."""
    try:
        return redirect("run", make().public_id)
    except ServiceError as error:
        messages.error(request, worded(str(error)))
        return redirect("run", run.public_id)
