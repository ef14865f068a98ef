"""Group statements by dispute and by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from research.engine.evidence.ledger import Ledger
from research.engine.records import Evidence
from research.engine.report.draft import Statement
from research.engine.text.tokens import term_set


def says_half_of(said: Statement, record: Evidence) -> bool:
    """Return whether a statement has half of the words of a claim that it cites."""
    claim = term_set(record.claim)
    return 2 * len(claim & term_set(said.body)) >= len(claim)


class Disputes:
    """Disputes among the records of a ledger: each contested record belongs to one dispute, and
    to one side of it, by the pairs that are known. Disputed records that one of the
    statements cites for the same are on one side, unless they contradict each other.
    """

    def __init__(self, ledger: Ledger, statements: Iterable[Statement]) -> None:
        self._records = ledger.book.records
        self._numbers: dict[str, int] = {}
        self._sides: dict[str, int] = {}
        allies: dict[str, set[str]] = {}
        for said in statements:
            for one, other in combinations(filter(self._is_disputed, said.evidence), 2):
                if not said.is_verdict and other not in self._records[one].contradicts:
                    allies.setdefault(one, set()).add(other)
                    allies.setdefault(other, set()).add(one)
        for record_id in filter(self._is_disputed, self._records):
            if record_id not in self._numbers:
                self._number_from(record_id, allies)

    def _is_disputed(self, record_id: str) -> bool:
        return record_id in self._records and bool(self._records[record_id].contradicts)

    def _number_from(self, first: str, allies: Mapping[str, set[str]]) -> None:
        number = len(self._numbers)
        self._sides[first], queue = 0, [first]
        for record_id in queue:
            self._numbers[record_id] = number
            side, rivals = self._sides[record_id], self._records[record_id].contradicts
            pairs = [(rival, 1 - side) for rival in rivals]
            pairs += [(ally, side) for ally in sorted(allies.get(record_id, ()))]
            for other, its_side in pairs:
                if other in self._records and other not in self._sides:
                    self._sides[other] = its_side
                    queue.append(other)

    def of(self, said: Statement) -> int | None:
        """Return the dispute that a statement is on: all that it cites is, or it has half of the
        words of a disputed claim that it cites.
        """
        if said.is_column or said.is_verdict or not said.evidence:
            return None
        numbers = [self._numbers.get(record_id) for record_id in said.evidence]
        if len({*numbers}) == 1:
            return numbers[0]
        for record_id, number in zip(said.evidence, numbers, strict=True):
            if number is not None and says_half_of(said, self._records[record_id]):
                return number
        return None

    def sides_of(self, said: Statement) -> set[int]:
        """Return the sides of its dispute that a statement cites."""
        number = self.of(said)
        on_it = (i for i in said.evidence if i in self._numbers and self._numbers[i] == number)
        return {self._sides[record_id] for record_id in on_it}

    def differ(self, one: Statement, other: Statement) -> bool:
        """Return whether two statements take different sides of one dispute."""
        number = self.of(one)
        sides, others = self.sides_of(one), self.sides_of(other)
        is_on_both = number is not None and number == self.of(other)
        return is_on_both and len(sides) == len(others) == 1 and sides != others
