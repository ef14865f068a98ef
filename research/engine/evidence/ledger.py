"""Everything a run knows, in canonical order: by round, topic, query and rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from research.engine.assessment.effort import Effort
from research.engine.evidence.claim_check import RefusesBy
from research.engine.evidence.origin import is_collection, lone_origin
from research.engine.evidence.relations import Relations
from research.engine.evidence.store import EvidenceStore
from research.engine.journal.forms import NEWEST, Form
from research.engine.limits import Limits
from research.engine.ports import Page
from research.engine.records import (
    AnswerSupport,
    Aspect,
    AspectState,
    Complexity,
    Evidence,
    Gap,
    GateResult,
    Plan,
    QuoteSource,
    Record,
    Round,
    Skipped,
    Source,
)
from research.engine.text.similarity import Corpus
from research.engine.text.tokens import term_set
from research.engine.threads.seed import IdsUsed

MOST_LINES, LEAST_SHARED = 2, 3
"""Lines of an earlier report beside a conclusion, and words that each shares with it."""

ANSWERING = frozenset({AspectState.ANSWERED, AspectState.ONE_SOURCE, AspectState.DISPUTED})
SUPPORTS = 0.3
_WITHOUT = frozenset({AspectState.NOT_FOUND, AspectState.NOT_SEARCHED})


@dataclass(frozen=True)
class Lead:
    """Something named by a page that may answer the question; `strength` orders leads, 0-1.

    `held` are the question's terms that stand with it where it was named.
    """

    text: str
    query: str
    url: str
    strength: float
    held: frozenset[str] = frozenset()


@dataclass
class Ledger:
    """Records change only here, and every change is emitted.

    `leads` are those that a model named, `followed` the texts of those that were searched.
    `ids_used`, `rejected` and `instructed` come from an earlier run of the thread, `told_before` is
    what the report says that a follow-up question is about. `withdrawn` are
    the instructions that people dropped, and `withdrawals` is how often they did.
    """

    question: str
    plan: Plan
    emit: Callable[[Record], None]
    book: EvidenceStore
    aspects: dict[str, Aspect] = field(default_factory=dict)
    dropped: dict[str, Aspect] = field(default_factory=dict)
    gaps: dict[str, Gap] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    leads: dict[str, Lead] = field(default_factory=dict)
    followed: list[str] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    gates: list[GateResult] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    queries: dict[str, int] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    corpus: Corpus = field(default_factory=Corpus)
    ids_used: IdsUsed = field(default_factory=IdsUsed)
    rejected: tuple[QuoteSource, ...] = ()
    instructed: tuple[str, ...] = ()
    told_before: str = ""
    withdrawn: set[str] = field(default_factory=set)
    withdrawals: int = 0
    relations: Relations = field(default_factory=Relations)
    refuses_by: RefusesBy = "likeness"
    began: Form = NEWEST

    @property
    def complexity(self) -> Complexity:
        return self.plan.complexity

    @property
    def evidence(self) -> list[Evidence]:
        return list(self.book.records.values())

    @property
    def statable(self) -> list[Evidence]:
        """Return the evidence without what may only be quoted: what prompts show."""
        return [record for record in self.book.records.values() if not record.is_dictated]

    @property
    def tables(self) -> list[str]:
        """Return what the tables above a report's sections hold; none before `Form.EDITED`."""
        return self.relations.tables if self.began >= Form.EDITED else []

    @property
    def lone_origin(self) -> str:
        """Return the site or collection that (nearly) all evidence is from; "" if there is none, or
        the run is one before `Form.COMPUTED`.
        """
        if self.began < Form.COMPUTED:
            return ""
        return lone_origin(record.keys for record in self.book.records.values())

    @property
    def is_one_work(self) -> bool:
        """Return whether all was found in one collection whose documents share out its subject, as
        chapters do: of many findings none is in two of them, so no other is to be had for one.
        """
        records = self.book.records.values()
        is_alone = is_collection(self.lone_origin) and len(records) >= ONE_WORK
        return is_alone and all(len(record.keys) == 1 for record in records)

    # --- sub-questions -----------------------------------------------------------------

    def raise_aspect(self, text: str, query: str, raised_by: str, round_number: int) -> Aspect:
        used = (*self.aspects, *self.dropped)
        new_id = _next_id("A", self.ids_used.aspects, used)
        aspect = Aspect(new_id, text, query, raised_by, round_number)
        self.book.asked[aspect.id] = term_set(text)
        self._put_aspect(aspect)
        return aspect

    def enter_aspect(self, aspect: Aspect) -> None:
        """A sub-question of an earlier run, under its own id; a dropped one stays out."""
        self.book.asked[aspect.id] = term_set(aspect.text)
        if aspect.state is not AspectState.NOT_SEARCHED:
            self.effort.searched.add(aspect.id)
        if aspect.dropped:
            self.dropped[aspect.id] = aspect
            self.emit(aspect)
        else:
            self._put_aspect(aspect)

    def _put_aspect(self, aspect: Aspect) -> None:
        if self.aspects.get(aspect.id) != aspect:
            self.aspects[aspect.id] = aspect
            self.emit(aspect)

    def drop_aspect(self, aspect_id: str, by: str) -> None:
        """Leave a sub-question out of everything that follows; its gaps are closed by whom."""
        aspect = replace(self.aspects.pop(aspect_id), dropped=True)
        self.dropped[aspect_id] = aspect
        self.emit(aspect)
        for gap in self.open_gaps():
            if gap.aspect_id == aspect_id:
                self.close_gap(gap.id, self.round.number, (by,))

    def take_up(self, aspect_id: str) -> None:
        """Ask a sub-question again that was dropped."""
        self._put_aspect(replace(self.dropped.pop(aspect_id), dropped=False))
        aspect, number = self.aspects[aspect_id], self.round.number
        self.open_gap(Gap(self.next_gap_id(), aspect.text, aspect_id, True, number, aspect.query))

    def refresh_aspects(
        self,
        standings: Mapping[str, AnswerSupport] | None = None,
        leading: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Each sub-question's state from its evidence, and what code makes of its answer, by id;
        the passages that code shows come first, or the evidence that is `leading`."""
        for aspect in list(self.aspects.values()):
            standing = (standings or {}).get(aspect.id)
            shown = standing.passages if standing else (leading or {}).get(aspect.id, ())
            supporting = [*map(self.book.records.__getitem__, shown)]
            supporting += [r for r in self.supporting(aspect.id) if r.id not in shown]
            self._put_aspect(
                replace(
                    aspect,
                    evidence_ids=tuple(record.id for record in supporting),
                    state=_state_from_evidence(aspect, supporting, standing),
                    standing=standing,
                )
            )

    def set_aspect(self, aspect_id: str, **changes: object) -> None:
        self._put_aspect(replace(self.aspects[aspect_id], **changes))  # type: ignore[arg-type]

    def supporting(self, aspect_id: str) -> list[Evidence]:
        """Return the evidence that answers a sub-question, best first, then in the order of ids;
        what may only be quoted comes last.
        """
        return sorted(
            self._evidence_answering(aspect_id),
            key=lambda r: (r.is_dictated, -r.relevance, -len(r.keys)),
        )

    def claims_on(self, aspect_id: str, most: int) -> list[str]:
        """Return the best claims on a sub-question, for queries."""
        found = [each.claim for each in self.supporting(aspect_id) if not each.is_dictated]
        return found[:most]

    def keys_of(self, aspect_id: str) -> frozenset[str]:
        """Return the number of independent sources of a sub-question; one if it is only quoted."""
        return _keys_of(self._evidence_answering(aspect_id))

    def _evidence_answering(self, aspect_id: str) -> list[Evidence]:
        return [r for r in self.book.of(aspect_id) if r.relevance >= SUPPORTS]

    def open_aspects(self) -> list[Aspect]:
        return [a for a in self.aspects.values() if a.state not in ANSWERING]

    def answered(self) -> int:
        return sum(a.state in ANSWERING for a in self.aspects.values())

    def independent_sites(self) -> frozenset[str]:
        """Over all records that answer some sub-question."""
        return frozenset().union(*(r.keys for r in self.statable if r.relevance >= SUPPORTS))

    # --- pages, evidence, sources, gaps ------------------------------------------------

    def put_page(self, page: Page) -> None:
        """Keep a page that was read, and see whether it copies one that was read before."""
        self.pages[page.url] = page
        self.book.copies.add(page.sha256, page.text, page.independence_key)

    def emit_evidence(self, before: dict[str, Evidence]) -> None:
        """Mark each sub-question's best claim, as last refreshed, and emit what changed."""
        best = {aspect.evidence_ids[0] for aspect in self.aspects.values() if aspect.evidence_ids}
        for record in self.evidence:
            if record.key != (record.id in best):
                record = replace(record, key=not record.key)
                self.book.records[record.id] = record
            old = before.get(record.id)
            if record is not old and record != old:
                self.emit(record)

    def put_source(self, source: Source) -> None:
        if self.sources.get(source.url) != source:
            self.sources[source.url] = source
            self.emit(source)

    def open_gaps(self) -> list[Gap]:
        return [gap for gap in self.gaps.values() if gap.open]

    def open_gap(self, gap: Gap) -> None:
        self.gaps[gap.id] = gap
        self.emit(gap)

    def next_gap_id(self) -> str:
        return _next_id("G", self.ids_used.gaps, self.gaps)

    def close_gap(self, gap_id: str, round_number: int, closed_by: Iterable[str]) -> None:
        closed = replace(self.gaps[gap_id], closed_round=round_number, closed_by=tuple(closed_by))
        self.open_gap(closed)

    # --- rounds ------------------------------------------------------------------------

    @property
    def round(self) -> Round:
        return self.rounds[-1]

    def begin_round(self, record: Round) -> None:
        self.rounds.append(record)
        self.emit(record)

    def update_round(self, **changes: object) -> Round:
        self.rounds[-1] = replace(self.rounds[-1], **changes)  # type: ignore[arg-type]
        self.emit(self.rounds[-1])
        return self.rounds[-1]

    def retell_decisions(self, told: str, text: str) -> None:
        """Put a text in the place of one that decisions of rounds told."""
        for place, record in enumerate(self.rounds):
            if told in record.decision:
                self.rounds[place] = replace(record, decision=record.decision.replace(told, text))
                self.emit(self.rounds[place])

    @property
    def instructions(self) -> list[str]:
        """Return what people have asked for in their own words and not dropped, oldest first."""
        later = (text for each in self.rounds for text in each.instructions)
        told = dict.fromkeys((*self.instructed, *self.plan.instructions, *later))
        return [text for text in told if text not in self.withdrawn]

    @property
    def times_instructed(self) -> int:
        """Return how many instructions were given, those that were dropped since among them."""
        return len(self.instructions) + self.withdrawals

    def withdraw_instruction(self, text: str) -> None:
        self.withdrawn.add(text)
        self.withdrawals += 1

    def lines_before(self, text: str) -> list[str]:
        """Return the lines of the earlier report that share most words with a text, few of them."""
        said, lines = term_set(text), self.told_before.split("\n")
        shared = {line: len(said & term_set(line)) for line in lines}
        near = [line for line in shared if shared[line] >= LEAST_SHARED]
        return sorted(near, key=lambda line: -shared[line])[:MOST_LINES]

    @property
    def asked(self) -> str:
        """Return the question and what people added to it in their own words, which says what their
        case is as the question does; before `Form.EDITED` the question alone.
        """
        added = self.instructions if self.began >= Form.EDITED else []
        return " ".join((self.question, *added))

    def skipped(self) -> list[Skipped]:
        return [skip for record in self.rounds for skip in record.skipped]


def _next_id(letter: str, used: int, known: Iterable[str]) -> str:
    return f"{letter}{max([used, *(int(each[1:]) for each in known)]) + 1}"


def _keys_of(records: Sequence[Evidence]) -> frozenset[str]:
    """Return the independent sources of records; what is only quoted counts as one at most."""
    stated = [record for record in records if not record.is_dictated]
    return frozenset().union(*(record.keys for record in stated or records[:1]))


def _state_from_evidence(
    aspect: Aspect, supporting: list[Evidence], standing: AnswerSupport | None = None
) -> AspectState:
    judged = standing if standing and standing.probability is not None else None
    if not supporting or (judged and not judged.is_answer):
        return aspect.state if aspect.state in _WITHOUT else AspectState.OPEN
    if any(record.contradicts for record in supporting):
        return AspectState.DISPUTED
    keys = _keys_of(supporting)
    return AspectState.ANSWERED if len(keys) > 1 else AspectState.ONE_SOURCE


ONE_WORK = 20
"""Findings from which it tells that none is in two documents."""
CORROBORATED = 2


def unchecked_claims(ledger: Ledger, limits: Limits) -> list[Evidence]:
    """Return the key claims of answered sub-questions that are not cross-checked, disputed ones
    first.

    A claim is cross-checked where as many independent sources say it as the question asks for
    (two at most) and none contradicts it.
    """
    found = [r for r in key_claims(ledger) if not is_cross_checked(r, limits)]
    return sorted(found, key=lambda record: not record.contradicts)


def key_claims(ledger: Ledger) -> list[Evidence]:
    """Return the best claim of each sub-question that has an answer."""
    answered = {a.id for a in ledger.aspects.values() if a.state in ANSWERING}
    return [r for r in ledger.statable if r.key and answered.intersection(r.answers)]


def is_cross_checked(record: Evidence, limits: Limits) -> bool:
    wanted = min(CORROBORATED, limits.sources_per_aspect)
    return len(record.keys) >= wanted and not record.contradicts
