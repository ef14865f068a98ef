"""The page of a run, its log, and the commands that users send to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.html import escape
from django.utils.http import content_disposition_header
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.contexts import story
from dashboard.contexts.activity import (
    SHOWN,
    activity_line,
    call_filters,
    spending_lines,
    usage_by_model,
    usage_by_stage,
)
from dashboard.contexts.lists import paging_context
from dashboard.contexts.live import call_context
from dashboard.contexts.pending_commands import kept_instructions
from dashboard.contexts.report import copy_links, export_links
from dashboard.contexts.run import action_context, desk_key, run_footer, run_head, steering_of
from dashboard.contexts.thread import after_report_context, conversation_context
from dashboard.exports import FORMATS, PASTE, NothingToExportError, export_report, find_format
from dashboard.forms.form_errors import by_form, focus_on_first
from dashboard.forms.run_forms import (
    ClarificationForm,
    CommentForm,
    InstructionForm,
    PlanForm,
    TopicForm,
)
from dashboard.live import fragments
from dashboard.plans import depth_choices, plan_context
from dashboard.prices import priced_usage
from dashboard.queries import queries, thread_queries, usage
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from dashboard.titles import shorten, title_of
from research.engine.records import Status
from research.models import Run
from research.models.runs import REWRITES
from research.runtime.source_choices import mixes_documents_and_web
from research.services import deleting, people, runs, what_if
from research.services.errors import ServiceError

NAMED = 80
"""Maximum characters of a question that identifies a run in a message."""


@never_cache
@require_GET
def show_run(request: HttpRequest, public_id: str) -> HttpResponse:
    return page_of(request, queries.find_run(request.user, public_id))


@never_cache
@require_GET
def show_research(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render the page of a run with the tab that shows how it was researched."""
    return page_of(request, queries.find_run(request.user, public_id), tab="research")


def page_of(
    request: HttpRequest, run: Run, status: int = 200, tab: str = "report", **forms: BaseForm
) -> HttpResponse:
    """Render the page of a run; `forms` replaces forms that were submitted with errors.

    Both tabs are in the page. Until there is a report, the style sheet shows the research.
    """
    focus_on_first(*forms.values())
    rows = RunRows(run)
    context, state = desk_of(rows, **forms) | conversation_context(rows), fragments.build_from(rows)
    context |= {
        "tab": tab,
        "live": state.page(),
        "shows": state.shows,
        "exports": export_links(run),
        "copies": copy_links(run),
        "can_share": settings.SHARE_REPORTS,
        "is_open": people.open_links().filter(run=run).exists(),
        "socket": f"/live/{run.public_id}/?language={get_language()}",
        "refreshing": context["run"]["live"] and "hold" not in request.GET,
    }
    return render(request, "dashboard/run.html", context, status=status)


@never_cache
@require_GET
def show_actions(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render the buttons and forms offered to this viewer.

    The page loads them when they change. Answer 204 if it already has them (`have`), so that text
    typed there is kept.
    """
    context = desk_of(RunRows(queries.find_run(request.user, public_id)))
    had = request.GET.get("have", "")
    if had == context["desk_key"]:
        return HttpResponse(status=204)
    context["changed"] = steering_of(had) ^ steering_of(context["desk_key"])
    if "plan_form" in context:
        context["plan_form"].keep_instruction(request.GET.get("text", ""))
    return render(request, "dashboard/desk.html", context)


@never_cache
@require_GET
def show_action(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render what a queued run waits for, which changes with other runs; 286 ends the polling."""
    action = action_context(RunRows(queries.find_run(request.user, public_id)))
    return HttpResponse(escape(action["text"]), status=200 if action.get("queued") else 286)


@never_cache
@require_GET
def show_call(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render the pending model call, which is polled: it becomes overdue without any event.

    Answer 204 if the page shows it already (`have`); 286 ends the polling.
    """
    run = queries.find_run(request.user, public_id)
    call = call_context(run)
    if call is None:
        return HttpResponse(status=286)
    if call["key"] == request.GET.get("have"):
        return HttpResponse(status=204)
    return render(request, "dashboard/_call.html", {"run_id": run.public_id, "call": call})


@never_cache
@require_GET
def show_activity(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render what a run did round by round, or with `?show=` the list of its calls."""
    run = queries.find_run(request.user, public_id)
    spent, priced = usage.time_spent(run), priced_usage(run)
    shown = request.GET.get("show", "")
    context: dict[str, Any] = {
        "run": run_head(run),
        "footer": run_footer(run),
        "filters": call_filters(spent, shown),
        "spent": spending_lines(spent),
        "by_stage": usage_by_stage(priced),
        "by_model": usage_by_model(priced),
        "at_once": worded(run.termination_text or "") if run.answered_at_once else "",
        "can_replay": what_if.can_replay(run),
    }
    if shown in SHOWN:
        page = queries.page_of_calls(run, request.GET.get("page"), SHOWN[shown])
        context |= {
            "calls": [activity_line(entry, run.started_at or run.created_at) for entry in page],
            "paging": paging_context(page, {"show": shown}),
        }
    elif spent:
        parts = story.divide(list(queries.calls_of(run)), usage.places_of(run))
        context["parts"] = story.tell(RunRows(run), parts)
    if run.kind in REWRITES:
        context |= {"rewrites": True, "searched_for": thread_queries.searched_for(run)}
    return render(request, "dashboard/activity.html", context)


def desk_of(
    rows: RunRows,
    topic_form: object = None,
    instruction_form: object = None,
    **forms: object,
) -> dict[str, Any]:
    run = rows.run
    shown = run_head(run, rows.told, rows.trust, judged_by_model=rows.judged_by_model)
    asked = {**waiting_forms(rows), **forms} if shown["asks"] else {}
    key = desk_key(run, shown)
    return {
        "run": shown,
        "desk_key": key,
        "topic_form": topic_form or TopicForm(),
        "instruction_form": instruction_form or InstructionForm(),
        **asked,
        **after_report_context(rows, **forms),
    }


def waiting_forms(rows: RunRows) -> dict[str, object]:
    """Return the forms that a waiting run shows, by template variable."""
    run = rows.run
    if run.status == Status.AWAITING_CLARIFICATION and run.asks:
        return {"shift": run.asks}
    if run.status == Status.AWAITING_CLARIFICATION:
        return {"clarification": ClarificationForm(questions_of(run))}
    if run.status == Status.AWAITING_APPROVAL:
        return {
            "plan": plan_context(run),
            "plan_form": plan_form(run),
            "comment_form": CommentForm(kept=kept_instructions(rows)) if run.plans_anew else None,
        }
    return {}


def questions_of(run: Run) -> list[str]:
    return list((run.plan or {}).get("questions", ()))


def plan_form(run: Run, data: QueryDict | None = None) -> PlanForm:
    return PlanForm(
        run.plan or {},
        with_terms=run.analyst != "extractive",
        data=data,
        with_consent=mixes_documents_and_web(run.sources),
        is_quick=run.config.get("research_depth") == "quick",
        depths=depth_choices(run),
        with_instruction=run.has_model and run.mode != "fixed",
    )


@by_form
def answer_questions(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    if "skip" in request.POST:
        return send_command(request, run, lambda: runs.skip_questions(request.user, run))
    form = ClarificationForm(questions_of(run), request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, clarification=form)
    return send_command(
        request, run, lambda: runs.answer_questions(request.user, run, form.answers())
    )


@by_form
def approve_plan(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    form = plan_form(run, request.POST)
    if not form.is_valid():
        return page_of(request, run, 422, plan_form=form)

    def approve() -> None:
        actor, aspects, terms, consent = request.user, form.aspects(), form.terms(), form.consent()
        if form.instruction:
            runs.instruct(actor, run, form.instruction)
        runs.approve_plan(actor, run, aspects, terms, consent, form.depth)

    return send_command(request, run, transaction.atomic(approve))


@by_form
def send_back(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    if "again" in request.POST:
        return send_command(request, run, lambda: runs.plan_again(request.user, run))
    edited = plan_form(run, request.POST)
    form = CommentForm(request.POST, along=edited.changes())
    if not form.is_valid() or edited.has_misset_choices:
        return page_of(request, run, 422, comment_form=form, plan_form=edited)

    def ask_for_another() -> None:
        if edited.instruction:
            runs.instruct(request.user, run, edited.instruction)
        runs.send_back(request.user, run, form.cleaned_data["comment"], edited.depth)

    return send_command(request, run, transaction.atomic(ask_for_another))


def form_view(
    form: type[BaseForm], name: str, field: str, tell: Callable[[Any, Run, str], object]
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Return the view of a command with a field of a form, which the page shows under a name."""

    @by_form
    def view(request: HttpRequest, public_id: str) -> HttpResponse:
        run, filled = queries.find_run(request.user, public_id), form(request.POST)
        if not filled.is_valid():
            return page_of(request, run, 422, **{name: filled})
        text = filled.cleaned_data[field]
        return send_command(request, run, lambda: tell(request.user, run, text))

    return view


def command_view(tell: Callable[[Any, Run], object]) -> Callable[[HttpRequest, str], HttpResponse]:
    """Return the view of a command without parameters."""

    @by_form
    def view(request: HttpRequest, public_id: str) -> HttpResponse:
        run = queries.find_run(request.user, public_id)
        return send_command(request, run, lambda: tell(request.user, run))

    return view


def text_view(
    tell: Callable[[Any, Run, str], object], name: str
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Return the view of a command with the text of one field."""

    @by_form
    def view(request: HttpRequest, public_id: str) -> HttpResponse:
        run, text = queries.find_run(request.user, public_id), request.POST.get(name, "")
        return send_command(request, run, lambda: tell(request.user, run, text))

    return view


add_topic = form_view(TopicForm, "topic_form", "topic", runs.add_topic)
instruct = form_view(InstructionForm, "instruction_form", "text", runs.instruct)
drop_topic = text_view(runs.drop_topic, "topic")
withdraw_topic = text_view(runs.withdraw_topic, "topic")
drop_instruction = text_view(runs.drop_instruction, "text")
pause = command_view(runs.pause_run)
resume = command_view(runs.resume_run)
retry = command_view(runs.retry_run)
stop = command_view(runs.stop_and_report)
plan_by_code = command_view(runs.plan_by_code)
finish_by_code = command_view(runs.finish_by_code)
dig_deeper = command_view(runs.dig_deeper)


@never_cache
@require_http_methods(["GET", "POST"])
def cancel_run(request: HttpRequest, public_id: str) -> HttpResponse:
    """Cancel a run, after confirmation if research has begun."""
    run = queries.find_run(request.user, public_id)
    if request.method == "POST":
        return send_command(request, run, lambda: runs.request_cancel(request.user, run))
    shown = run_head(run)
    if not shown["has_begun"]:
        return redirect("run", run.public_id)
    context = {"run": shown, "found": run.evidence.count()}
    return render(request, "dashboard/run_cancel.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_run(request: HttpRequest, public_id: str) -> HttpResponse:
    """Delete a run after confirmation."""
    run = queries.find_run(request.user, public_id)
    if request.method == "POST":
        return delete_and_redirect(request, run)
    context = {
        "page": "runs",
        "run": run_head(run),
        "asker": "" if run.owner == request.user else run.owner.get_username(),
        "others": thread_queries.count_other_runs(run),
        "kept": deleting.why_kept(run),
    }
    return render(request, "dashboard/run_delete.html", context)


def delete_and_redirect(request: HttpRequest, run: Run) -> HttpResponse:
    """Delete a run and redirect to the list; back to the run with a message if refused."""
    try:
        deleting.delete_run(request.user, run)
    except ServiceError as error:
        messages.error(request, worded(str(error)))
        return redirect("run", run.public_id)
    name = shorten(title_of(run), NAMED)
    messages.info(request, _("“%(name)s” was deleted.") % {"name": name})
    return redirect("runs")


def send_command(request: HttpRequest, run: Run, tell: Callable[[], object]) -> HttpResponse:
    """Send a command and redirect to the run, with a message if the service refuses."""
    try:
        tell()
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    return redirect("run", run.public_id)


@never_cache
@require_GET
def export_run(request: HttpRequest, public_id: str, extension: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    if extension not in (*FORMATS, PASTE):
        raise Http404("no such format")
    try:
        return download_report(request, run, extension)
    except NothingToExportError as error:
        messages.error(request, worded(str(error)))
        return redirect("run", run.public_id)


def download_report(request: HttpRequest, run: Run, extension: str) -> HttpResponse:
    """Return the report as a file, with `?quotes=false` without its quotes.

    Raise `NothingToExportError` if there is none.
    """
    quotes = request.GET.get("quotes") != "false"
    written = export_report(run, find_format(extension), with_quotes=quotes)
    name = content_disposition_header(as_attachment=True, filename=written.filename)
    headers = {"Content-Disposition": name, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(written.content, content_type=written.content_type, headers=headers)
