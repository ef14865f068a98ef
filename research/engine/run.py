"""One run in memory: what every step of the loop is handed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from research.engine.assessment.assessment import Assessment
from research.engine.assessment.rules import DEFAULT_RULES, Rules
from research.engine.budget.meter import Spent, sections_within
from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import RefusesBy
from research.engine.evidence.ledger import Lead, Ledger
from research.engine.evidence.store import EvidenceStore
from research.engine.journal import Journal
from research.engine.journal.forms import OLDEST, Form
from research.engine.limits import WORDS, WORDS_AT_ONCE, Limits, limits_for
from research.engine.offline.passages.shown_passages import standings
from research.engine.offline.questions.compared import compared_things
from research.engine.ports import Page, SearchHit
from research.engine.records import (
    Action,
    Complexity,
    Plan,
    Problem,
    Qualification,
    RunState,
    Status,
    StopReason,
)
from research.engine.report.parts.main_findings import most_direct
from research.engine.rounds.topics import Topic, first_topics
from research.engine.text.language import ENGLISH
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.similarity import NearDuplicates
from research.engine.text.tokens import normalise_space, words_in
from research.engine.threads.seed import IdsUsed, ReportForm, ReportFormat, Seed
from research.engine.untrusted.address_wall import AddressWall
from research.engine.untrusted.prompt_injection import is_order

if TYPE_CHECKING:
    from research.engine.llm_tasks.draft import PendingDraft
    from research.engine.verifier.check_ahead import PendingCheck

log = logging.getLogger(__name__)

BEFORE = frozenset({
    Status.QUEUED, Status.INTAKE, Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL,
})  # fmt: skip
READING = frozenset({"read", "tree_extract"})
"""The tasks that read pages."""
CUT = "Prompts were cut to the model's window: the least relevant of what was read is left out."
TOO_LONG = (
    "The model's server found a prompt too long and had not told its window: prompts are shortened "
    "until they fit. MODEL_CONTEXT_TOKENS names the window."
)
SPENT = {
    "budget_time": "the run's time was up",
    "budget_cost": "the money that the budget allows is used up",
    "budget_calls": "the model calls that the budget allows are used up",
    "budget_tokens": "the tokens that the budget allows are used up",
}
"""Why code does a task of the model once a budget is spent."""


@dataclass(frozen=True)
class Question:
    """What was asked. `today` (ISO date) is frozen when the run is created.

    `agreed` True means that nobody is asked to clarify or to approve the plan. `seed` is what
    an earlier run of the thread leaves this one, `verifier` what is stored of the model as one.
    `documents` names the asker's collections, if nothing else is searched.
    """

    text: str
    today: str
    agreed: bool = False
    seed: Seed | None = None
    verifier: Qualification | None = None
    documents: tuple[str, ...] = ()


@dataclass
class Run:
    """The question, the frozen config, the way to the outside, and what is known so far.

    `candidates` are topics for the next round, `tried` the addresses that were chosen, `offers`
    what searches named, for which lead, and the texts that it may be relevant to; `late`
    those whose pages did not come in time, with their sub-question. `marks` are what was spent
    at each boundary. `wished` is the round that a person wants to see, `last` the budget that
    ends the run after the present round. `earned` are the rounds' scores, and `assessment` is
    the last one that was made. `begun` is a draft that nobody knows yet to be needed,
    and `scouted` are queries of such searches, with their places. `failed` are the rounds that
    could read no page, `failing` how many of them were the last in a row, and `retries` the
    topics of the last one. `shown` is what searches showed of each page that was chosen, and
    `read_lines` are the numbers of the sentences of each page that a model was shown.
    `is_chained` says that the question is covered by pages of which one names the other: each
    rests on its own, so that further sources for the whole are unavailable. `qualification` is
    how the model did as verifier, as far as known; `is_qualified_in_vain` that finding it out
    failed. `secret` is what the fences of pages in prompts are made with.
    `began` is the form of the research as the run began it, and `form` the same for what only
    models do, of which a run without one does nothing. `answers_at_once` says that earlier findings
    answer a follow-up question, so that nothing is searched. `checking` is a verification of claims
    that was begun beside the draft. `instructions` are those given before the plan was approved.
    """

    question: Question
    config: ResearchConfig
    journal: Journal
    rules: Rules = DEFAULT_RULES
    state: RunState = field(default_factory=lambda: RunState(Status.INTAKE))
    candidates: list[Topic] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    offers: list[tuple[SearchHit, Lead | None, tuple[str, ...]]] = field(default_factory=list)
    late: dict[str, str | None] = field(default_factory=dict)
    marks: list[Spent] = field(default_factory=list)
    wished: int = 0
    last: StopReason | None = None
    earned: list[float] = field(default_factory=list)
    assessment: Assessment | None = None
    begun: PendingDraft | None = None
    scouted: dict[str, str] = field(default_factory=dict)
    retries: list[Topic] = field(default_factory=list)
    failing: int = 0
    shown: dict[str, str] = field(default_factory=dict)
    read_lines: dict[str, frozenset[int]] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    is_chained: bool = False
    is_verified: bool = False
    is_reopened: bool = False
    answers_at_once: bool = False
    qualification: Qualification | None = None
    is_qualified_in_vain: bool = False
    secret: str = ""
    form: Form = Form.BY_CODE
    began: Form = OLDEST
    checking: PendingCheck | None = None
    instructions: tuple[str, ...] = ()
    _ledger: Ledger | None = None
    _limits: Limits | None = None
    _window: tuple[int | None] | None = None
    _learned: dict[int, int] = field(default_factory=dict)

    @property
    def ledger(self) -> Ledger:
        assert self._ledger is not None, "the ledger exists once the plan is agreed"
        return self._ledger

    @property
    def limits(self) -> Limits:
        assert self._limits is not None, "the limits follow from the agreed plan"
        return self._limits

    def start(self, plan: Plan) -> None:
        """An empty ledger for the agreed plan, its sub-questions as first topics."""
        self.open_ledger(plan)
        for aspect in plan.aspects:
            self.ledger.raise_aspect(aspect.text, aspect.query, "plan", 0)
        self.candidates = self.planned_topics()

    def open_ledger(self, plan: Plan, seed: Seed | None = None) -> None:
        """A ledger without sub-questions; what a seed used or refused is neither again."""
        ids_used, rejected = (seed.ids_used, seed.rejected) if seed else (IdsUsed(), ())
        book = EvidenceStore(
            self.config.max_source_urls_per_claim,
            last=ids_used.evidence,
            copies=NearDuplicates(self.rules.near_copy_share),
            dates_clauses=self.began >= Form.EDITED,
        )
        self._ledger = Ledger(
            self.question.text,
            plan,
            self.journal.emit,
            book,
            ids_used=ids_used,
            rejected=rejected,
            refuses_by=self.refuses_statements_by,
            began=self.began,
        )
        limits = limits_for(self.config, plan.complexity, self.parts_of(plan))
        meter = self.journal.meter
        sections = meter.sections = sections_within(self.config, limits.sections, meter.rates)
        self._limits = replace(limits, sections=sections)
        if self.form < Form.EDITED and self.config.research_depth == "standard":
            self._limits = replace(self._limits, words=WORDS[plan.complexity.value])
        if self.answers_at_once:
            self._limits = replace(self._limits, words=WORDS_AT_ONCE)
        self.update_state(complexity=plan.complexity, language=plan.language)

    @property
    def refuses_statements_by(self) -> RefusesBy:
        """Return when a difference between a statement and its quotes refuses it, by what is known
        of the model as verifier.
        """
        if not self.has_model:
            return "suspicion"
        if not self.verifier_sees_details:
            return "likeness"
        return "things" if self.began >= Form.COMPUTED else "floor"

    @property
    def refuses_findings_by(self) -> RefusesBy:
        """Return when a difference between a finding and its quotes puts these in its place. A
        verifier that is still to be tested counts as a good one: the report tests it first.
        """
        is_new = self.qualification is None and self.has_verifier and self.form >= Form.EDITED
        if self.form < Form.COMPUTED or not (is_new or self.verifier_sees_details):
            return "likeness"
        return "things" if self.form >= Form.EDITED else "floor"

    @property
    def has_verifier(self) -> bool:
        return self.has_model and self.config.has_verifier

    @property
    def verifier_sees_details(self) -> bool:
        """Return whether the verifier missed so few labelled pairs that it is believed on a word or
        phrase that sets a statement apart from its quote.
        """
        known = self.qualification
        if known is None or not self.has_verifier:
            return False
        return known.missed <= self.config.verifier_most_missed_details

    def parts_of(self, plan: Plan) -> int:
        """Return the sub-questions that widen the limits; 0 where breadth is left out of
        account.
        """
        is_narrow = self.is_fixed or self.config.model_profile == "small"
        is_wide = self.has_model and not is_narrow
        return len(plan.aspects) if is_wide else 0

    def wall(self, pages: Sequence[Page] = ()) -> AddressWall:
        """Return what may be said of the addresses in the pages read so far, and in `pages`."""
        known = self._ledger.pages.values() if self._ledger else ()
        asked = [self.question.text, *(self._ledger.instructions if self._ledger else ())]
        return AddressWall(" ".join(asked), (*known, *pages))

    def admitted(self, text: str) -> str:
        """Return what a model named for the next searches, in one line; '' if it is an order of a
        page.
        """
        plain = normalise_space(text)
        if is_order(plain, self.question.text):
            return ""
        masked = self.wall().masked(plain)
        return masked if words_in(masked) else ""

    @property
    def shape(self) -> ReportFormat:
        """Return the format of the report: of a version that was asked for, or the plan's."""
        seed = self.question.seed
        if seed and seed.shape != ReportFormat():
            return seed.shape
        plan = self._ledger.plan if self._ledger else None
        return ReportFormat(cast(ReportForm, plan.form), plan.reader) if plan else ReportFormat()

    @property
    def usual_language(self) -> str:
        """Return the language of a question whose words identify none: the thread's, or the
        setting.
        """
        seed = self.question.seed
        return (seed.plan.language if seed else self.config.search_language) or ENGLISH

    @property
    def has_model(self) -> bool:
        return self.journal.has_model

    @property
    def is_read_by_code(self) -> bool:
        """Return whether no model read a page: there is none, or it returned no usable answer."""
        usage = self.journal.meter.usage
        in_vain = READING & usage.fallbacks.keys() and not READING & usage.answers.keys()
        return not self.has_model or bool(in_vain)

    async def refresh_aspects(self) -> None:
        """Each sub-question's state and, where code read the pages, its standing; where a model
        did, the finding that answers it most directly comes first.
        """
        ledger, pages = self.ledger, self.ledger.pages.values()
        if self.is_read_by_code:
            ledger.refresh_aspects(await run_in_thread_if_long(pages, standings, ledger))
        elif self.form >= Form.EDITED:
            leading = await run_in_thread_if_long(pages, most_direct, ledger)
            ledger.refresh_aspects(leading=leading)
        else:
            ledger.refresh_aspects()

    def planned_topics(self) -> list[Topic]:
        """Return the topics of the plan. Without a model, each of two questions in one sentence is
        searched by itself; of documents, each thing that is compared.
        """
        things = compared_things(self.question.text) if self.searches_each_thing else ()
        return first_topics(self.ledger, by_parts=not self.has_model, things=things)

    @property
    def searches_each_thing(self) -> bool:
        """Return whether searches cost nothing and the documents may tell of each thing apart."""
        return bool(self.question.documents) and self.form >= Form.EDITED

    @property
    def follows_names(self) -> bool:
        """Without a model, a question that isn't open-ended is followed from name to name."""
        return not self.has_model and self.ledger.complexity is not Complexity.COMPLEX

    @property
    def topic_threshold(self) -> float:
        """Return the similarity from which on a topic repeats an earlier one."""
        return self.rules.topic_threshold(self.config)

    @property
    def is_fixed(self) -> bool:
        return self.config.deep_research_mode == "fixed"

    @property
    def report_place(self) -> str:
        """Return the journal place of the report's calls; a second draft has a separate one."""
        return "report/2" if self.is_reopened else "report"

    async def context_tokens(self) -> int | None:
        """Return the model's window as it was when the run first asked for it, or what was learned
        in the rounds before this one: in whichever order a round's calls end, all know the same.
        """
        if self._window is None:
            self._window = (await self.journal.context_tokens(),)
        learned = [most for number, most in self._learned.items() if number < self.state.round]
        told = [] if self._window[0] is None else [self._window[0]]
        return min([*told, *learned], default=None)

    def found_too_long(self, window: int) -> None:
        """Record that the server refused a prompt as too long; fewer tokens are tried next, and
        from the start in later rounds.
        """
        known = self._learned.get(self.state.round, window)
        self._learned[self.state.round] = min(known, window)
        self.trouble("model", TOO_LONG)

    def cut_prompt(self) -> None:
        """Count a prompt that was shortened to fit."""
        self.journal.meter.usage.prompts_cut += 1
        self.trouble("model", CUT)

    def update_state(self, **changes: object) -> None:
        """Change the run's state and emit it."""
        state = replace(self.state, **changes)  # type: ignore[arg-type]
        if state != self.state:
            self.state = state
            self.journal.meter.enter_stage(
                "intake" if state.status in BEFORE else state.stage.value
            )
            self.journal.emit(state)

    def report_action(self, text: str) -> None:
        """Say what is being done, in words for people."""
        if not self.journal.catching_up:
            self.journal.emit(Action(text))

    def trouble(self, where: str, message: str) -> None:
        self.journal.emit(Problem(where, message))

    def fell_back(self, task: str, cause: str) -> None:
        """A model task was done by code: counted, and shown among what went wrong."""
        self.journal.meter.usage.fell_back(task, cause)
        said = SPENT.get(cause, cause).rstrip(".")
        self.trouble(f"model, {task}", f"Done by code instead: {said}.")

    def log(self, message: str, *parts: object) -> None:
        """Log at INFO with the question, except while recorded work is repeated."""
        if not self.journal.catching_up:
            log.info(f"“%.60s”: {message}", self.question.text, *parts)

    def tell_usage(self) -> None:
        self.journal.emit(self.journal.meter.snapshot())
