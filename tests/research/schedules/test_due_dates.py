"""Due dates over months of different lengths and changes of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from research.schedules.due_dates import Rhythm

BERLIN = "Europe/Berlin"


def dates(rhythm: Rhythm, moment: str, number: int) -> list[str]:
    found, now = [], datetime.fromisoformat(moment).replace(tzinfo=UTC)
    for _ in range(number):
        now = rhythm.after(now)
        found.append(now.strftime("%Y-%m-%d %H:%M"))
    return found


def test_a_day_has_one_due_date_in_its_time_zone() -> None:
    rhythm = Rhythm("daily", time(8), BERLIN)
    assert dates(rhythm, "2026-01-10 06:59", 2) == ["2026-01-10 07:00", "2026-01-11 07:00"]
    assert dates(rhythm, "2026-01-10 07:00", 1) == ["2026-01-11 07:00"]


def test_a_far_time_zone_has_its_own_days() -> None:
    rhythm = Rhythm("weekly", time(1), "Pacific/Kiritimati", weekday=0)
    assert dates(rhythm, "2026-01-01 00:00", 2) == ["2026-01-04 11:00", "2026-01-11 11:00"]


def test_a_time_that_the_clock_skips_comes_later_that_day() -> None:
    rhythm = Rhythm("daily", time(2, 30), BERLIN)
    expected = ["2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30"]
    assert dates(rhythm, "2026-03-27 12:00", 3) == expected


def test_a_time_that_occurs_twice_counts_once() -> None:
    rhythm = Rhythm("daily", time(2, 30), BERLIN)
    expected = ["2026-10-25 00:30", "2026-10-26 01:30"]
    assert dates(rhythm, "2026-10-24 12:00", 2) == expected


def test_the_end_of_the_month_is_its_last_day() -> None:
    rhythm = Rhythm("monthly", time(9), "UTC", day=31)
    expected = ["2028-01-31 09:00", "2028-02-29 09:00", "2028-03-31 09:00", "2028-04-30 09:00"]
    assert dates(rhythm, "2028-01-01 00:00", 4) == expected
    assert dates(rhythm, "2026-12-31 09:00", 2) == ["2027-01-31 09:00", "2027-02-28 09:00"]


def test_a_first_of_the_month_near_midnight() -> None:
    rhythm = Rhythm("monthly", time(0, 5), "America/New_York", day=1)
    assert dates(rhythm, "2026-05-01 04:06", 1) == ["2026-06-01 04:05"]


def test_missed_dates_are_listed() -> None:
    rhythm = Rhythm("daily", time(9), "UTC")
    first = datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert len(rhythm.between(first, first + timedelta(days=4))) == 5
    assert rhythm.between(first, first) == [first]


@given(
    cadence=st.sampled_from(["daily", "weekly", "monthly"]),
    at=st.times().map(lambda time: time.replace(microsecond=0)),
    zone=st.sampled_from([BERLIN, "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"]),
    weekday=st.integers(0, 6),
    day=st.integers(1, 31),
    moment=st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 1), timezones=st.just(UTC)),
)
def test_no_day_is_left_out_and_none_counts_twice(
    cadence: str, at: time, zone: str, weekday: int, day: int, moment: datetime
) -> None:
    rhythm = Rhythm(cadence, at, zone, weekday, day)
    found = rhythm.between(rhythm.after(moment), moment + timedelta(days=100))
    assert found[0] > moment
    least, most = {"daily": (0.9, 1.1), "weekly": (6.9, 7.1), "monthly": (27.9, 31.1)}[cadence]
    for first, second in pairwise(found):
        assert timedelta(days=least) <= second - first <= timedelta(days=most)
