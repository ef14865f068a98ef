"""What follows a report: a revision, another shape, more research, the next question."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from dashboard import queries, thread_queries
from dashboard.contexts.thread import thread
from dashboard.thread_forms import DeeperForm, FollowUpForm, ReshapeForm
from dashboard.views.run import page_of, told
from dashboard.views.sending import by_form
from research.models import Run
from research.services import runs, threads
from research.services.errors import ServiceError


@require_GET
def show_thread(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every question of a thread with the newest version of its report."""
    row = thread_queries.find_thread(request.user, public_id)
    context = {"thread": thread(row, thread_queries.questions(row.pk))}
    return render(request, "dashboard/thread.html", context)


@by_form
def revise(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    return made(request, run, lambda: threads.revise(request.user, run))


@by_form
def reshape(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = ReshapeForm(request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, reshape_form=form)
    asked = form.cleaned_data
    return made(
        request, run, lambda: threads.reshape(request.user, run, asked["form"], asked["reader"])
    )


@by_form
def dig_further(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    rows = thread_queries.asked_aspects(run)
    form = DeeperForm([(row.label, row.text) for row in rows], data=request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(form.problems()))
        return redirect("run", run.public_id)
    asked = form.cleaned_data
    return made(
        request,
        run,
        lambda: threads.dig_deeper(request.user, run, asked["aspects"], asked["cost_usd"]),
    )


@by_form
def follow_up(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = FollowUpForm(request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, follow_up_form=form)
    return made(
        request, run, lambda: threads.follow_up(request.user, run, form.cleaned_data["said"])
    )


@by_form
def settle_topic(request: HttpRequest, public_id: str) -> HttpResponse:
    """Whether a follow-up question belongs to its thread, as its asker says."""
    run = queries.find_run(request.user, public_id)
    tell = runs.start_anew if "anew" in request.POST else runs.keep_topic
    return told(request, run, lambda: tell(request.user, run))


def made(request: HttpRequest, run: Run, make: Callable[[], Run]) -> HttpResponse:
    """To the new run's page; back, with the service's own words, where it refused."""
    try:
        return redirect("run", make().public_id)
    except ServiceError as error:
        messages.error(request, str(error))
        return redirect("run", run.public_id)
