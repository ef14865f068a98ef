"""A finished run as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from research.engine.records import (
    Action,
    Evidence,
    Record,
    Report,
    RunState,
    Status,
    Usage,
    key_of,
)

R = TypeVar("R")


@dataclass(frozen=True)
class RunResult:
    """The records of a run in the order in which the engine emitted them.

    A record is emitted again whenever it changes. `divergences` are the journal's places at which
    a replay asked for something else than was recorded.
    """

    records: tuple[Record, ...]
    divergences: tuple[str, ...] = ()

    def of(self, kind: type[R]) -> list[R]:
        """Return the last state of each record of a kind, in order of first appearance."""
        kept = {key_of(each): each for each in self.records if not isinstance(each, Action)}
        return [record for record in kept.values() if isinstance(record, kind)]

    @property
    def state(self) -> RunState:
        """Return the status, stage, score and reason for stopping at the end."""
        return next(iter(self.of(RunState)), RunState(Status.INTAKE))

    @property
    def report(self) -> Report:
        """Return the report; its Markdown is empty if nothing was found."""
        return next(iter(self.of(Report)), Report(""))

    @property
    def usage(self) -> Usage:
        """Return calls, tokens, searches, pages, seconds and money."""
        return next(iter(self.of(Usage)), Usage())

    @property
    def evidence(self) -> list[Evidence]:
        """Return the claims of the ledger, each with its quotes."""
        return self.of(Evidence)
