"""Writes the e-mail of a notification, as plain text and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from research.engine.assessment.answer_status import Trust
from research.models import Event
from research.readmodel.trust_words import trust_words

SUBJECT_LENGTH = 120


@dataclass(frozen=True)
class Mail:
    subject: str
    text: str
    html: str


def write_mail(body: dict[str, Any], confirm_url: str = "") -> Mail:
    """Return the e-mail for the body of a notification, or to confirm its address."""
    data = body["data"]
    run, schedule = data.get("run"), data.get("schedule")
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
    return str(trust_words(Trust(run["trust"]), has_model=run["analyst"] != "extractive"))
