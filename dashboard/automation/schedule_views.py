"""The pages of schedules."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.automation import shown
from dashboard.automation.forms import ScheduleForm
from dashboard.forms.form_errors import focus_on_first
from dashboard.views.sending import by_form
from research.models import Schedule
from research.schedules import manage
from research.services.errors import ServiceError


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_schedules(request: HttpRequest) -> HttpResponse:
    """List the schedules; a POST adds one. `?question=` fills in the form."""
    last = manage.list_schedules(request.user)
    initial = {"question": request.GET.get("question", "")}
    if last:
        initial["time_zone"] = last[-1].time_zone
    form = ScheduleForm(request.user, request.POST or None, **initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = manage.add_schedule(request.user, form.plan())
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, str(error))
        else:
            return redirect("schedule", made.public_id)
    focus_on_first(form)
    context = {"form": form, "schedules": [shown.schedule_line(row) for row in last]}
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/schedules.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a schedule with its results; a POST changes it."""
    schedule = find_schedule(request, public_id)
    form = ScheduleForm(request.user, request.POST or None, schedule=schedule)
    if request.method == "POST" and form.is_valid():
        try:
            manage.change_schedule(schedule, form.changes())
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, str(error))
        else:
            messages.success(request, _("Saved."))
            return redirect("schedule", public_id)
    focus_on_first(form)
    stored = find_schedule(request, public_id)
    context = {
        "form": form,
        "schedule": shown.schedule_line(stored),
        "results": shown.result_lines(stored),
    }
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/schedule.html", context, status=status)


@by_form
def pause_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    schedule = find_schedule(request, public_id)
    manage.change_schedule(schedule, {"paused": "pause" in request.POST})
    return redirect("schedule", public_id)


@by_form
def delete_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    manage.delete_schedule(find_schedule(request, public_id))
    messages.info(request, _("The schedule was deleted; its runs stay."))
    return redirect("schedules")


def find_schedule(request: HttpRequest, public_id: str) -> Schedule:
    """Return a schedule of the user. Raise `Http404` also for those of other users."""
    schedule = manage.find_schedule(request.user, public_id)
    if schedule is None:
        raise Http404("no such schedule")
    return schedule
