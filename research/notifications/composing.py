"""Composes notifications: one JSON object for programs, and e-mails written from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from research.engine.assessment.answer_status import Trust
from research.models import Delivery, EmailChoice, Event, Occurrence, Run
from research.readmodel.run_rows import is_judged_by_model, trust_of
from research.readmodel.trust_words import trust_words
from research.schedules.news import news_of

MOST_NEWS = 50
CONFIRMS = "research.notifications.confirm"
SUBJECT_LENGTH = 120


def public_url(path: str) -> str:
    """Return the address under which people open a page."""
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def confirm_url(choice: EmailChoice) -> str:
    """Return the link that confirms an address; only a reader of mails to it may ever see it."""
    token = signing.dumps([choice.owner_id, choice.address], salt=CONFIRMS)
    return public_url(f"/notifications/email/confirm/?token={token}")


def compose_body(delivery: Delivery) -> str:
    """Return the body of a delivery; it has to be the same for all attempts."""
    body = {
        "type": delivery.event,
        "timestamp": delivery.created_at.isoformat(),
        "data": _data(delivery),
    }
    return json.dumps(body, ensure_ascii=False)


def _data(delivery: Delivery) -> dict[str, Any]:
    run = delivery.run
    if run is None:
        return {"message": "This is a test."}
    data = {"run": _run(run, delivery.run_status)}
    if delivery.event == Event.SCHEDULE:
        occurrence = Occurrence.objects.select_related("schedule").get(run=run)
        data["schedule"] = _schedule(occurrence)
    return data


def _run(run: Run, status: str) -> dict[str, Any]:
    report = run.reports.order_by("number").last()
    ended = status == "completed"
    aspects = run.aspects.all()
    return {
        "id": run.public_id,
        "thread": run.thread.public_id,
        "question": run.question,
        "status": status,
        "termination_reason": run.termination_reason,
        "text": run.termination_text or "",
        "analyst": run.analyst,
        "judged_by_model": is_judged_by_model(run, aspects),
        "trust": trust_of(aspects).value if ended else None,
        "quality_score": run.quality_score,
        "answer": report.short_answer if report else "",
        "questions": (run.plan or {}).get("questions", []) if run.waiting else [],
        "url": public_url(f"/runs/{run.public_id}/"),
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _schedule(occurrence: Occurrence) -> dict[str, Any]:
    schedule = occurrence.schedule
    news = news_of(occurrence)
    found = None if news is None else [vars(each) for each in news.findings[:MOST_NEWS]]
    return {
        "id": schedule.public_id,
        "due_at": occurrence.due_at.isoformat(),
        "only_new": schedule.only_new,
        "previous_run": None if news is None else news.previous.public_id,
        "new": found,
        "new_count": None if news is None else len(news.findings),
        "url": public_url(f"/schedules/{schedule.public_id}/"),
    }


@dataclass(frozen=True)
class Mail:
    subject: str
    text: str
    html: str


def write_mail(body: dict[str, Any], confirm_url: str = "") -> Mail:
    """Return the e-mail for the body of a notification, or to confirm its address."""
    data = body["data"]
    run, schedule = data.get("run"), data.get("schedule")
    if run:
        run = run | {name: run[name].replace("`", "") for name in ("question", "answer")}
    context = {
        "heading": _heading(body["type"], run, schedule, confirm_url),
        "confirm_url": confirm_url,
        "run": run,
        "schedule": schedule,
        "trust": _trust(run),
        "shows_answer": run and not _only_news(schedule),
    }
    subject = context["heading"] + (f": {run['question']}" if run else "")
    return Mail(
        subject=" ".join(subject.split())[:SUBJECT_LENGTH],
        text=render_to_string("research/mail.txt", context).strip() + "\n",
        html=render_to_string("research/mail.html", context),
    )


def _only_news(schedule: dict[str, Any] | None) -> bool:
    """Return whether only what is new is wanted; a first result is reported in full."""
    return schedule is not None and schedule["only_new"] and schedule["new"] is not None


def _heading(
    event: str,
    run: dict[str, Any] | None,
    schedule: dict[str, Any] | None,
    confirm_url: str,
) -> str:
    if confirm_url:
        return _("Confirm your e-mail address")
    if run is None:
        return _("Test from Plumbline")
    if schedule and schedule["new"] is not None and run["status"] == "completed":
        return _("New findings") if schedule["new"] else _("Nothing new")
    if event == Event.ASKS:
        return _("Your decision is needed")
    return _("Research failed") if run["status"] == "failed" else _("Research finished")


def _trust(run: dict[str, Any] | None) -> str:
    if not run or not run["trust"]:
        return ""
    judged = run.get("judged_by_model", run["analyst"] != "extractive")  # before it was told
    return str(trust_words(Trust(run["trust"]), judged_by_model=judged))
