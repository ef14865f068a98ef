"""One run: its page, its citations, and what a person can tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.text import Truncator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import fragments, queries, thread_queries
from dashboard.contexts import spending
from dashboard.contexts.activity import activity, spent
from dashboard.contexts.evidence import claim
from dashboard.contexts.lists import paging
from dashboard.contexts.plan import plan
from dashboard.contexts.run import desk_key, head
from dashboard.contexts.thread import afterwards, place
from dashboard.mistakes import focus_on_first
from dashboard.plan_form import PlanForm
from dashboard.run_forms import ClarificationForm, CommentForm, TopicForm
from dashboard.run_rows import RunRows
from dashboard.views.sending import by_form
from research.engine.records import Status
from research.models import Run
from research.models.runs import REWRITES
from research.services import deleting, runs
from research.services.errors import ServiceError

NAMED = 80
"""Characters of a question that name a run in a sentence."""


@never_cache
@require_GET
def show_run(request: HttpRequest, public_id: str) -> HttpResponse:
    return page_of(request, queries.find_run(request.user, public_id))


def page_of(request: HttpRequest, run: Run, status: int = 200, **forms: BaseForm) -> HttpResponse:
    """The page of a run; `forms` replaces those that were sent with mistakes."""
    focus_on_first(*forms.values())
    rows = RunRows(run)
    context = desk_of(rows, **forms) | place(run)
    context |= {
        "live": fragments.build_from(rows).page(),
        "socket": f"/live/{run.public_id}/",
        "refreshing": context["run"]["live"] and "hold" not in request.GET,
    }
    return render(request, "dashboard/run.html", context, status=status)


@never_cache
@require_GET
def desk(request: HttpRequest, public_id: str) -> HttpResponse:
    """What only this viewer is offered, loaded when that changes: the buttons and forms.

    A viewer who already has it (`have`) keeps it, and what was typed there.
    """
    context = desk_of(RunRows(queries.find_run(request.user, public_id)))
    had = request.GET.get("have", "")
    if had == context["desk_key"]:
        return HttpResponse(status=204)
    context["steer_changed"] = ("can_steer" in had) != context["run"]["can_steer"]
    return render(request, "dashboard/desk.html", context)


@never_cache
@require_GET
def show_activity(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every search, fetch and model call, and where the time went."""
    run = queries.find_run(request.user, public_id)
    page = queries.calls(run, request.GET.get("page"))
    context = {
        "run": head(run),
        "calls": [activity(entry) for entry in page],
        "spent": spent(queries.time_spent(run)),
        "by_stage": spending.by_stage(run.usage),
        "by_model": spending.by_model(run.usage),
        "paging": paging(page),
    }
    if run.kind in REWRITES:
        context |= {"rewrites": True, "searched_for": thread_queries.searched_for(run)}
    return render(request, "dashboard/activity.html", context)


@never_cache
@require_GET
def show_evidence(request: HttpRequest, public_id: str) -> HttpResponse:
    """Every claim with its quotes; the run's own page shows the newest."""
    run = queries.find_run(request.user, public_id)
    page = queries.page_of_evidence(run, request.GET.get("page"))
    context = {"run": head(run), "claims": [claim(row) for row in page], "paging": paging(page)}
    return render(request, "dashboard/evidence.html", context)


def desk_of(rows: RunRows, topic_form: object = None, **forms: object) -> dict[str, Any]:
    run = rows.run
    shown = head(run, rows.told)
    asked = {**waiting_forms(run), **forms} if shown["asks"] else {}
    key = desk_key(run, shown)
    return {
        "run": shown,
        "desk_key": key,
        "topic_form": topic_form or TopicForm(),
        **asked,
        **afterwards(rows, **forms),
    }


def waiting_forms(run: Run) -> dict[str, object]:
    """What is asked of the person who looks at a run that waits."""
    if run.status == Status.AWAITING_CLARIFICATION and run.asks:
        return {"shift": run.asks}
    if run.status == Status.AWAITING_CLARIFICATION:
        return {"clarification": ClarificationForm(questions_of(run))}
    if run.status == Status.AWAITING_APPROVAL:
        return {
            "plan": plan(run),
            "plan_form": plan_form(run),
            "comment_form": CommentForm() if run.plans_anew else None,
        }
    return {}


def questions_of(run: Run) -> list[str]:
    return list((run.plan or {}).get("questions", ()))


def plan_form(run: Run, data: QueryDict | None = None) -> PlanForm:
    return PlanForm(run.plan or {}, with_terms=run.analyst != "extractive", data=data)


@by_form
def answer(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    if "skip" in request.POST:
        return told(request, run, lambda: runs.skip_questions(request.user, run))
    form = ClarificationForm(questions_of(run), request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, clarification=form)
    return told(request, run, lambda: runs.answer(request.user, run, form.answers()))


@by_form
def approve(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = plan_form(run, request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, plan_form=form)
    return told(request, run, lambda: runs.approve(request.user, run, form.aspects(), form.terms()))


@by_form
def send_back(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    edited = plan_form(run, request.POST)
    form = CommentForm(request.POST, along=edited.changes())
    if not form.is_valid():
        return page_of(request, run, 422, comment_form=form, plan_form=edited)
    comment = form.cleaned_data["comment"]
    return told(request, run, lambda: runs.send_back(request.user, run, comment))


@by_form
def add_topic(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = TopicForm(request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, topic_form=form)
    topic = form.cleaned_data["topic"]
    return told(request, run, lambda: runs.add_topic(request.user, run, topic))


@by_form
def drop_topic(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    topic = request.POST.get("topic", "")
    return told(request, run, lambda: runs.drop_topic(request.user, run, topic))


def plain(tell: Callable[[Any, Run], object]) -> Callable[[HttpRequest, str], HttpResponse]:
    """The view of a command that says nothing but itself."""

    @by_form
    def view(request: HttpRequest, public_id: str) -> HttpResponse:
        run = queries.find_run(request.user, public_id)
        return told(request, run, lambda: tell(request.user, run))

    return view


pause = plain(runs.pause)
resume = plain(runs.resume)
retry = plain(runs.retry)
stop = plain(runs.stop_and_report)
dig_deeper = plain(runs.dig_deeper)


@never_cache
@require_http_methods(["GET", "POST"])
def cancel(request: HttpRequest, public_id: str) -> HttpResponse:
    """Asks first once research has begun."""
    run = queries.find_run(request.user, public_id)
    if request.method == "POST":
        return told(request, run, lambda: runs.cancel(request.user, run))
    shown = head(run)
    if not shown["has_begun"]:
        return redirect("run", run.public_id)
    context = {"run": shown, "found": run.evidence.count()}
    return render(request, "dashboard/run_cancel.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    """Asks first."""
    run = queries.find_run(request.user, public_id)
    if request.method == "POST":
        return deleted(request, run)
    context = {
        "page": "runs",
        "run": head(run),
        "asker": "" if run.owner == request.user else run.owner.get_username(),
        "others": thread_queries.others(run),
        "kept": deleting.why_kept(run),
    }
    return render(request, "dashboard/run_delete.html", context)


def deleted(request: HttpRequest, run: Run) -> HttpResponse:
    """To the list; back to the page, with the service's own words, where it refused."""
    try:
        deleting.delete(request.user, run)
    except ServiceError as error:
        messages.error(request, str(error))
        return redirect("run", run.public_id)
    messages.info(request, f"“{Truncator(run.question).chars(NAMED)}” was deleted.")
    return redirect("runs")


def told(request: HttpRequest, run: Run, tell: Callable[[], object]) -> HttpResponse:
    """Back to the page, with the service's own words where it refused."""
    try:
        tell()
    except ServiceError as error:
        messages.error(request, str(error))
    return redirect("run", run.public_id)
