"""Webhooks and schedules, and what the pages Notifications and Schedules show of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import AbstractUser
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard import words
from dashboard.automation.forms import CADENCES, EVENTS, WEEKDAYS
from dashboard.words import State
from research.models import Delivery, EmailChoice, Occurrence, Schedule, Webhook
from research.models.schedules import Cadence
from research.readmodel.run_rows import is_judged_by_model, trust_of
from research.schedules.news import news_of

LOG_LENGTH = 30
RESULTS_LENGTH = 20
MOST_NEWS = 20
SOON_SECONDS = 30


def find_webhook(user: AbstractUser, public_id: str) -> Webhook:
    """Return a webhook of the user. Raise `Http404` also for those of other users."""
    row: Webhook | None = user.webhooks.filter(public_id=public_id).first()
    if row is None:
        raise Http404("no such webhook")
    return row


def find_schedule(user: AbstractUser, public_id: str) -> Schedule:
    """Return a schedule of the user. Raise `Http404` also for those of other users."""
    row: Schedule | None = user.schedules.filter(public_id=public_id).first()
    if row is None:
        raise Http404("no such schedule")
    return row


def delivery_state(row: Delivery) -> State:
    if row.state == Delivery.State.DELIVERED:
        return State(_("Delivered"), "check", "good")
    if row.state == Delivery.State.FAILED:
        return State(_("Failed"), "cross", "bad")
    if row.attempts:
        return State(_("Will be tried again"), "clock", "fair")
    return State(_("Waiting"), "clock", "busy")


def webhook_state(hook: Webhook) -> State:
    if hook.disabled_reason:
        return State(_("Disabled"), "pause", "bad")
    return State(_("Enabled"), "check", "good")


BROWSER = {
    "off": State(gettext_lazy("Off"), "none", "idle"),
    "on": State(gettext_lazy("On"), "check", "good"),
    "denied": State(gettext_lazy("Blocked in the browser"), "cross", "bad"),
    "missing": State(gettext_lazy("Not on this device"), "none", "idle"),
}
"""States of messages in the browser, which its script knows alone."""


def email_state(choice: EmailChoice | None, has_mail_server: bool) -> State:
    if not has_mail_server:
        return State(_("No mail server"), "none", "idle")
    if choice is None:
        return State(_("Off"), "none", "idle")
    if not choice.confirmed:
        return State(_("Not confirmed yet"), "clock", "fair")
    return State(_("On"), "check", "good")


def webhooks_state(hooks: Sequence[Webhook]) -> State:
    """Return one state for all webhooks; one that is enabled is enough for "On"."""
    enabled = sum(not hook.disabled_reason for hook in hooks)
    if enabled:
        return State(_("On"), "check", "good")
    return State(_("Disabled"), "pause", "bad") if hooks else State(_("Off"), "none", "idle")


def webhook_line(hook: Webhook) -> dict[str, Any]:
    return {
        "id": hook.public_id,
        "url": hook.url,
        "link": reverse("webhook", args=[hook.public_id]),
        "state": webhook_state(hook),
        "reason": hook.disabled_reason,
        "events": [EVENTS[event] for event in hook.events if event in EVENTS],
    }


def log_context(rows: Iterable[Delivery], hook: Webhook | None = None) -> dict[str, Any]:
    """Return the log of a webhook or of e-mails; `moving` while something is about to be sent."""
    shown = [_delivery(row) for row in list(rows)[:LOG_LENGTH]]
    place = reverse("webhook", args=[hook.public_id]) if hook else reverse("emails")
    return {
        "deliveries": shown,
        "moving": any(each["is_soon"] for each in shown),
        "log_url": f"{place}log/",
        "redeliver_url": f"{place}redeliver/",
    }


def _delivery(row: Delivery) -> dict[str, Any]:
    waits = (row.due_at - timezone.now()).total_seconds()
    pending = row.state == Delivery.State.PENDING
    return {
        "id": row.public_id,
        "event": EVENTS.get(row.event, _("Test")),
        "question": row.run.question if row.run else "",
        "url": reverse("run", args=[row.run.public_id]) if row.run else "",
        "state": delivery_state(row),
        "created": row.created_at,
        "attempts": [_attempt(each) for each in reversed(row.attempts)],
        "next": row.due_at if pending and row.attempts else None,
        "is_soon": pending and waits < SOON_SECONDS,
        "can_redeliver": not pending or bool(row.attempts),
        "body": row.body,
    }


def _attempt(each: dict[str, Any]) -> dict[str, Any]:
    status = "" if each["status"] is None else _("status {status}").format(status=each["status"])
    return {
        "at": timezone.localtime(datetime.fromisoformat(each["at"])),
        "status": status,
        "seconds": words.format_seconds(each["seconds"]),
        "error": "" if each["error"] == status else each["error"],
    }


def schedule_rhythm(schedule: Schedule) -> str:
    """Return when a schedule is due: "Every week on Friday at 08:00 (Europe/Berlin)"."""
    at = f"{schedule.at:%H:%M}"
    often = dict(CADENCES)[schedule.cadence]
    match schedule.cadence:
        case Cadence.WEEKLY:
            told = _("{often} on {day} at {at}")
            day = dict(WEEKDAYS)[schedule.weekday]
        case Cadence.MONTHLY:
            told, day = _("{often} on day {day} at {at}"), schedule.day
        case _other:
            told, day = _("{often} at {at}"), ""
    return f"{told.format(often=often, day=day, at=at)} ({schedule.time_zone})"


def schedule_line(schedule: Schedule) -> dict[str, Any]:
    state = State(_("On"), "clock", "good")
    if schedule.paused:
        state = State(_("Paused"), "pause", "idle")
    budget = schedule.config.get("max_cost_usd")
    return {
        "id": schedule.public_id,
        "url": reverse("schedule", args=[schedule.public_id]),
        "question": schedule.question,
        "rhythm": schedule_rhythm(schedule),
        "paused": schedule.paused,
        "only_new": schedule.only_new,
        "budget": budget,
        "state": state,
        "next": "" if schedule.paused else _local(schedule, schedule.next_at),
    }


def result_lines(schedule: Schedule) -> list[dict[str, Any]]:
    """Return the last due dates, newest first, each with its run and what is new in its report."""
    rows = schedule.occurrences.select_related("run", "schedule").order_by("-due_at")
    return [_result(row) for row in rows[:RESULTS_LENGTH]]


def _result(row: Occurrence) -> dict[str, Any]:
    run = row.run
    news = news_of(row) if run and run.status == "completed" else None
    state = None
    if run is not None:
        aspects = run.aspects.all()
        trust = trust_of(aspects) if run.status == "completed" else None
        judged = is_judged_by_model(run, aspects)
        state = words.run_state(run, trust, judged_by_model=judged)
    return {
        "due": _local(row.schedule, row.due_at),
        "url": reverse("run", args=[run.public_id]) if run else "",
        "state": state,
        "skipped": row.skipped or ("" if run else _("Its run was deleted.")),
        "missed": row.missed,
        "news": news,
        "shown": news.findings[:MOST_NEWS] if news else (),
        "more": max(0, len(news.findings) - MOST_NEWS) if news else 0,
    }


def _local(schedule: Schedule, moment: datetime) -> str:
    local = moment.astimezone(ZoneInfo(schedule.time_zone))
    return date_format(local, "D j F Y, H:i")
