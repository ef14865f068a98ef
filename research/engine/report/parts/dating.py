"""Dates of statements and sources, and which of two values is the newer one."""

from __future__ import annotations

from research.engine.records import Evidence
from research.engine.text.dates import find_dates

DAY = 10
"""Characters of a date such as `2026-03-01`."""


def newest_date(record: Evidence) -> str:
    """Return the newest day on which a source of a claim was published; "" if none is dated."""
    return max((source.published or "")[:DAY] for source in record.sources)


def date_of_statement(record: Evidence) -> str:
    """Return the date that a claim itself states, otherwise that of its newest page."""
    stated = [found.date for found in find_dates(record.claim) if found.date[0] is not None]
    if not stated:
        return newest_date(record)
    year, month, day = max(tuple(part or 0 for part in date) for date in stated)
    return "-".join(
        part for part in (f"{year:04}", f"{month:02}" if month else "", f"{day:02}" if day else "")
        if part
    )  # fmt: skip
