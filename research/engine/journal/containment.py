"""Keeps an unexpected error of one call from ending its run.

An error that no tool announces (a library's, a defect's) is logged with its traceback and
becomes the call's failure, which is journaled like any other. So a replay fails at the same
place in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from research.engine.budget.meter import BudgetSpent
from research.engine.journal.entries import JournalEnds, Parked
from research.engine.ports import ToolFailure
from research.errors import PlumblineError

log = logging.getLogger(__name__)

UNEXPECTED = "an unexpected error, which the server's log describes"

IsOutage = Callable[[BaseException], bool]
"""Whether an error says that the process lacks what it needs itself: the run has to wait then."""

_EXPECTED = (ToolFailure, BudgetSpent, JournalEnds, Parked)


def no_outage(error: BaseException) -> bool:
    return False


class Outage(PlumblineError):
    """An outage during a call, named by its cause: the call has no answer and is not journaled."""


@contextmanager
def contain_errors(
    place: str, failure: ToolFailure, is_outage: IsOutage = no_outage
) -> Iterator[None]:
    """Raise `failure` in place of an unexpected error, and `Outage` in place of one that is one.

    Failures that a tool announces, the journal's own exceptions and cancellation pass.
    """
    try:
        yield
    except Exception as error:
        if is_outage(error):
            raise Outage(f"{place}: {error}") from error
        if isinstance(error, _EXPECTED):
            raise
        log.exception("%s: unexpected error", place)
        raise failure from error
