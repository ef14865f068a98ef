"""What people do with their schedules.

Every function takes the person or a schedule of theirs. Raises `ServiceError` for an invalid value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, time
from typing import Any
from zoneinfo import available_timezones

from django.contrib.auth.models import AbstractUser
from django.utils import timezone
from django.utils.translation import gettext as _

from research.engine.config import ResearchConfig
from research.models import Cadence, Schedule
from research.schedules.due_dates import Rhythm
from research.services.errors import InvalidValueError, ServiceError
from research.services.runs import QUESTION_LENGTH

MOST_SCHEDULES = 100
LOCAL = frozenset({"localtime", "Factory"})
"""Names that mean something else on each machine, or nothing."""


@dataclass(frozen=True)
class Plan:
    """A question and when to ask it. `weekday` and `day` apply to weekly and monthly schedules."""

    question: str
    cadence: str
    at: time
    time_zone: str
    weekday: int = 0
    day: int = 1
    only_new: bool = False
    config: dict[str, Any] = field(default_factory=lambda: ResearchConfig().model_dump(mode="json"))
    sources: dict[str, Any] = field(default_factory=dict)


def list_schedules(actor: AbstractUser) -> Sequence[Schedule]:
    return list(actor.schedules.all())


def add_schedule(
    actor: AbstractUser, plan: Plan, clock: Callable[[], datetime] = timezone.now
) -> Schedule:
    """Create a schedule; its first due date is the next one that fits."""
    if actor.schedules.count() >= MOST_SCHEDULES:
        told = _("You have {number} schedules; delete one first.")
        raise ServiceError(told.format(number=MOST_SCHEDULES))
    return Schedule.objects.create(
        owner=actor, **asdict(plan), next_at=_checked(plan).after(clock())
    )


def change_schedule(
    schedule: Schedule, changes: dict[str, Any], clock: Callable[[], datetime] = timezone.now
) -> Schedule:
    """Change the given fields of the plan, or `paused`; recompute the next due date."""
    for name, value in changes.items():
        setattr(schedule, name, value)
    names = Plan.__dataclass_fields__
    plan = Plan(**{name: getattr(schedule, name) for name in names})
    schedule.next_at = _checked(plan).after(clock())
    schedule.save(update_fields=(*names, "paused", "next_at"))
    return schedule


def delete_schedule(schedule: Schedule) -> None:
    """Delete a schedule; its runs stay."""
    schedule.delete()


def _checked(plan: Plan) -> Rhythm:
    """Return when the plan is due; raise `ServiceError` for an invalid value."""
    if not 0 < len(plan.question.strip()) <= QUESTION_LENGTH:
        told = _("A question has from 1 to {number} characters.")
        raise InvalidValueError(told.format(number=QUESTION_LENGTH), "question")
    if plan.cadence not in Cadence.values:
        raise InvalidValueError(_("Choose daily, weekly or monthly."), "cadence")
    if plan.time_zone not in available_timezones() - LOCAL:
        raise InvalidValueError(_("There is no such time zone."), "time_zone")
    if not 0 <= plan.weekday <= 6:
        raise InvalidValueError(_("Choose a day of the week."), "weekday")
    if not 1 <= plan.day <= 31:
        raise InvalidValueError(_("A day of the month is from 1 to 31."), "day")
    return Rhythm(plan.cadence, plan.at, plan.time_zone, plan.weekday, plan.day)
