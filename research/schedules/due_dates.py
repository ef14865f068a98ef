"""When a schedule is due, in its own time zone."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from research.models import Cadence


@dataclass(frozen=True)
class Rhythm:
    """A time of day on every day, on one `weekday` (0 is Monday), or on one `day` of the month.

    A month without that day counts its last one. A time that the clock skips in spring is moved by
    the skipped hour; one that occurs twice in autumn counts once, the first time.
    """

    cadence: str
    at: time
    time_zone: str
    weekday: int = 0
    day: int = 1

    def after(self, moment: datetime) -> datetime:
        """Return the first due date after `moment`, in UTC."""
        return next(due for due in self._due_dates(moment) if due > moment)

    def between(self, first: datetime, until: datetime) -> list[datetime]:
        """Return the due dates from `first`, itself one, up to and including `until`."""
        found = [first]
        while (following := self.after(found[-1])) <= until:
            found.append(following)
        return found

    def _due_dates(self, moment: datetime) -> Iterator[datetime]:
        """Yield due dates in order, from at latest the last one before `moment`."""
        zone = ZoneInfo(self.time_zone)
        for day in self._days(moment.astimezone(zone).date() - timedelta(days=1)):
            yield datetime.combine(day, self.at, zone).astimezone(UTC)

    def _days(self, first: date) -> Iterator[date]:
        if self.cadence == Cadence.MONTHLY:
            year, month = first.year, first.month
            while True:
                yield date(year, month, min(self.day, monthrange(year, month)[1]))
                year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        days = 7 if self.cadence == Cadence.WEEKLY else 1
        ahead = (self.weekday - first.weekday()) % 7 if self.cadence == Cadence.WEEKLY else 0
        day = first + timedelta(days=ahead)
        while True:
            yield day
            day += timedelta(days=days)
