"""Group statements by dispute and by side."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Statement
from research.engine.text.entities import find_names
from research.engine.text.tokens import (
    capitalize_heading,
    normalise_space,
    term_set,
    words_in,
)

LONGEST_HOLDER = 8
"""Words of the name of who holds a view."""
MOSTLY = 2 / 3
"""Share of the words of a statement that stand in clauses without a view."""
_CLAUSE_END = re.compile(r"[,;:]\s|\s[–—]\s")
_NO_HOLDER = re.compile(
    r"(?:\b(?:in|at|near|of|from|on|before|after|since|until|told|tells)(?: the)?|\w and) $",
    re.IGNORECASE,
)
_SAYS_DISPUTE = re.compile(
    r"\b(?:disput\w+|disagree\w*|contest(?:ed|é\w*)|contradict\w*|conflicting|controvers\w+|at odds"
    r"|(?:two|three|different|competing|rival) (?:\w+ )?(?:accounts?|explanations?|versions?|views?"
    r"|ways?|reasons?)|(?:um)?strittig\w*|umstritten\w*|streit\w*|widerspr[eiao]\w+|uneins|uneinig\w*"
    r"|(?:zwei|drei|verschiedene) (?:\w+ )?(?:erklärungen|versionen|darstellungen|lesarten|gründe)"
    r"|diverg\w+|contredi\w+|(?:deux|trois) (?:versions|explications|raisons)|discut\w+|discrep\w+"
    r"|contradi[cz]\w+|polémic\w+|controvertid\w+|(?:dos|tres) (?:versiones|explicaciones|razones)"
    r"|contestat\w+|dibattut\w+|discord\w+|contrast(?:ant\w+|ano)"
    r"|(?:due|tre) (?:versioni|spiegazioni|ragioni)|contestad\w+"
    r"|(?:duas|três) (?:versões|explicações|razões)|omstreden|betwist\w*|tegenspreken|oneens"
    r"|(?:twee|drie) (?:versies|verklaringen|redenen))\b"
    r"|争议|争論|争论|分歧|说法不一|众说纷纭|論争|議論|異論|諸説|食い違|意見が分かれ",
    re.IGNORECASE,
)
"""What says that there is a dispute, in the languages of the labels."""
_GOES_ON = re.compile(r" and [^\W\d_a-z]")


def says_half_of(said: Statement, record: Evidence) -> bool:
    """Return whether a statement has half of the words of a claim that it cites."""
    claim = term_set(record.claim)
    return 2 * len(claim & term_set(said.body)) >= len(claim)


def may_hold(name: str, sentence: str) -> bool:
    """Return whether a name in a sentence may be that of who holds a view: none of a place, a time
    or a listener.
    """
    before, _, after = sentence.partition(name)
    return not _NO_HOLDER.search(before) and not _GOES_ON.match(after)


def holders_by_quotes(pair: Sequence[Evidence], names: Iterable[str]) -> dict[str, str]:
    """Return who holds the view of each of two records, by id, of the names that a model gives:
    those that a quote of the record has, unless both are the same.
    """
    given = [normalise_space(name) for name in names]
    is_one = len({name.casefold() for name in given}) < len(given)
    named = () if is_one else zip(pair, given, strict=False)
    return {record.id: name for record, name in named if _is_named(name, record)}


def _is_named(holder: str, record: Evidence) -> bool:
    whole = re.compile(rf"(?<!\w){re.escape(holder)}(?!\w)", re.IGNORECASE)
    quotes = (normalise_space(source.quote) for source in record.sources)
    is_name = bool(term_set(holder)) and words_in(holder) <= LONGEST_HOLDER
    return is_name and any(map(whole.search, quotes))


def named_holder(evidence: Iterable[str], ledger: Ledger) -> str:
    """Return who holds the view of records as the model that found the dispute names them; "" for
    nobody, and for several.
    """
    known = ledger.relations.holders
    names = {known[i] for i in evidence if i in known}
    return capitalize_heading(names.pop()) if len(names) == 1 else ""


def is_beside(said: Statement, ledger: Ledger) -> bool:
    """Return whether a statement only says what no other side of a dispute contradicts: of each
    disputed claim that it cites, what stands in clauses without the name of who holds the view;
    "trials start late by forty minutes", of "trials start late by forty minutes, for which the
    Audit Office blames the vans".
    """
    records = ledger.book.records
    cited = (records[i] for i in said.evidence if i in records)
    disputed = [record for record in cited if record.contradicts]
    if ledger.began < Form.COMPUTED or said.quoted or not disputed:
        return False
    return all(_says_only_plain(said, record, ledger) for record in disputed)


def _says_only_plain(said: Statement, record: Evidence, ledger: Ledger) -> bool:
    rivals = (ledger.book.records.get(i) for i in record.contradicts)
    known = term_set(" ".join((ledger.question, *(each.claim for each in rivals if each))))
    holders = [
        name
        for name in find_names(record.claim)
        if not term_set(name) <= known and may_hold(name, record.claim)
    ]
    named = ledger.relations.holders.get(record.id)
    holders += [named] if named else []
    parts: dict[bool, list[str]] = {True: [], False: []}
    for clause in _CLAUSE_END.split(record.claim):
        is_view = any(name.casefold() in clause.casefold() for name in holders)
        parts[is_view].append(clause)
    view, plain = (term_set(" ".join(parts[is_view])) for is_view in (True, False))
    own = term_set(said.body)
    is_plain = bool(view) and own.isdisjoint(view - plain)
    return is_plain and len(own & plain) >= MOSTLY * len(own)


def rests_on_both(said: Statement, ledger: Ledger) -> bool:
    """Return whether a statement cites both sides of a dispute."""
    records = ledger.book.records
    rivals = {i for record_id in said.evidence for i in records[record_id].contradicts}
    return not rivals.isdisjoint(said.evidence)


def weighed_by(draft: Draft, ledger: Ledger) -> frozenset[str]:
    """Return the records on both sides of disputes that a conclusion of an author of all sections
    weighs, since it cites both; none before `Form.EDITED`.
    """
    if not draft.is_whole or ledger.began < Form.EDITED:
        return frozenset()
    records, found = ledger.book.records, set[str]()
    for said in draft.statements:
        rivals = {i for each in said.evidence for i in records[each].contradicts}
        found |= rivals.intersection(said.evidence) if said.concludes else set()
    return frozenset(found)


def is_weighed(group: Iterable[Statement], weighed: Collection[str], ledger: Ledger) -> bool:
    """Return whether conclusions weigh all on which statements disagree."""
    records = ledger.book.records
    disputed = {i for said in group for i in said.evidence if records[i].contradicts}
    return bool(disputed) and disputed.issubset(weighed)


def says_dispute(said: Statement, group: Sequence[Statement], ledger: Ledger) -> bool:
    """Return whether a statement on one side of a dispute only says that there is one: it names
    nobody who holds a view, while others in the group tell that side.
    """
    if said.quoted or not _SAYS_DISPUTE.search(said.body):
        return False
    held = {i for each in group if each != said for i in each.evidence}
    known = ledger.relations.holders
    views = [i for i in said.evidence if ledger.book.records[i].contradicts]
    holders = [known.get(i) or "" for i in views]
    body = said.body.casefold()
    return held.issuperset(views) and not any(name and name.casefold() in body for name in holders)


def sides_among(records: Iterable[Evidence]) -> list[list[Evidence]]:
    """Return records in groups that hold none that contradict each other."""
    groups: list[list[Evidence]] = []
    for record in records:
        fitting = (g for g in groups if not any(record.id in each.contradicts for each in g))
        group = next(fitting, None)
        if group is None:
            groups.append([record])
        else:
            group.append(record)
    return groups


class Disputes:
    """Disputes among the records of a ledger: each contested record belongs to one dispute, and
    to one side of it, by the pairs that are known. Disputed records that one of the
    statements cites for the same are on one side, unless they contradict each other.
    """

    def __init__(self, ledger: Ledger, statements: Iterable[Statement]) -> None:
        self._ledger, self._records = ledger, ledger.book.records
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
        words of a disputed claim that it cites; none of a plain fact beside a view.
        """
        if said.is_column or said.is_verdict or not said.evidence:
            return None
        if is_beside(said, self._ledger):
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

    def groups(self) -> list[list[Evidence]]:
        """Return the records of each dispute."""
        found: dict[int, list[Evidence]] = {}
        for record_id, number in self._numbers.items():
            found.setdefault(number, []).append(self._records[record_id])
        return [*found.values()]


@dataclass(frozen=True)
class ToldDispute:
    """What a dispute is about, "" if that isn't known, and of each side the records that say it
    and who holds the view, "" if nobody is named.
    """

    matter: str
    sides: tuple[tuple[list[Evidence], str], ...]


def disputes_on(ledger: Ledger, own: Collection[str]) -> list[ToldDispute]:
    """Return the disputes of which a record is among these ids."""
    found = []
    for group in Disputes(ledger, ()).groups():
        ids = {record.id for record in group}
        if ids.isdisjoint(own):
            continue
        matters = (told for pair, told in ledger.relations.matters.items() if ids.issuperset(pair))
        sides = (
            (side, named_holder((record.id for record in side), ledger))
            for side in sides_among(group)
        )
        found.append(ToldDispute("; ".join(dict.fromkeys(matters)), tuple(sides)))
    return found
