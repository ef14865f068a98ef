"""Keeps an unexpected error of one call from ending its run.

An error that no tool announces (a library's, a defect's) is logged with its traceback and
becomes the call's failure, which is journaled like any other. So a replay fails at the same
place in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from research.engine.budget import BudgetSpent
from research.engine.journal.entries import JournalEnds, Parked
from research.engine.tools import ToolFailure

log = logging.getLogger(__name__)

UNEXPECTED = "an unexpected error, which the server's log describes"

IsOutage = Callable[[BaseException], bool]
"""Whether an error says that the process lacks what it needs itself: the run has to wait then."""

_EXPECTED = (ToolFailure, BudgetSpent, JournalEnds, Parked)


def no_outage(error: BaseException) -> bool:
    return False


@contextmanager
def contain(place: str, failure: ToolFailure, is_outage: IsOutage = no_outage) -> Iterator[None]:
    """Raise `failure` in place of an unexpected error.

    Failures that a tool announces, the journal's own exceptions, outages and cancellation pass.
    """
    try:
        yield
    except _EXPECTED:
        raise
    except Exception as error:
        if is_outage(error):
            raise
        log.exception("%s: unexpected error", place)
        raise failure from error
