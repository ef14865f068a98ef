"""The rules by which a run decides, as one object that a run carries.

The defaults are the engine's own rules. To try the engine without one of them, or with another
one in its place, pass `dataclasses.replace(Rules(), …)` to `run_research`. Rules are not part of
a journal: a replay needs the rules that its run had.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from research.engine.assessment.assessment import Assessment
from research.engine.assessment.score import score_cap
from research.engine.assessment.stop_rule import Decision, Situation, decide_stop
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.records import GateName
from research.engine.report.checking.statement_check import find_faults
from research.engine.report.draft import Draft, Fault
from research.engine.report.rendering.markdown import Rendered, render_report
from research.engine.report.report_format import Layout
from research.engine.rounds.findings import check_finding
from research.engine.rounds.topics import Topic, next_topics
from research.engine.text.similarity import COPIED

NO_TWINS = math.inf
"""A similarity that no two topics reach."""


@dataclass(frozen=True)
class Rules:
    """Replaceable rules of a run. A flag that is False disables its rule."""

    # --- what follows a round

    decide_stop: Callable[[Situation, ResearchConfig], Decision] = decide_stop
    """Whether research goes on after a round, and if not, why."""
    next_topics: Callable[[Ledger, Assessment], list[Topic]] = next_topics
    """Candidates for the next round's topics, best first."""
    seeks_what_gates_lack: bool = True
    """Where a model names nothing new and a gate asks for more, look for what the ledger lacks."""
    refuses_repeated_topics: bool = True
    """Refuse topics that ask in nearly the same words as an earlier search."""
    most_aspects: int = 12
    """Sub-questions from which on gaps raise no further ones."""
    verifies_claims: bool = True
    """End a run that met its goal with one round for claims that nothing confirms."""
    reopens_after_draft: bool = True
    """Go back to research, once, where the draft fails its gate."""

    # --- gates and score

    open_gates: frozenset[GateName] = frozenset()
    """Gates whose criteria ask for nothing."""
    gives_up_aspects: bool = True
    """Stop asking for more on a sub-question that was searched twice without a new source."""
    score_cap: Callable[[Ledger, int], tuple[float, str]] = score_cap
    """The highest score that the ledger carries, and what holds it down."""
    holds_score_down: bool = True
    """Keep the score below the threshold while the evidence gate fails, a sub-question was never
    searched, or no model judged although there is one.
    """

    # --- evidence and report

    check_finding: Callable[..., None] = check_finding
    """Compare what a model says of a page with the page, and add it to the unit's reading."""
    near_copy_share: float = COPIED
    """Share of a page's text from which on it counts as a copy of another page."""
    find_faults: Callable[[Draft, Ledger], list[Fault]] = find_faults
    """Statements of a draft that their evidence does not carry."""
    verifies_statements: bool = True
    """Quote instead of stating what neither code nor a qualified model vouches for."""
    render_report: Callable[[Ledger, Draft, str, int, int, Layout], Rendered] = render_report
    """Turn a checked draft into the report's Markdown and its citations."""

    # --- budgets, and what is begun ahead of a decision

    foresees_next_round: bool = True
    """Begin a round only if the budgets hold one like the dearest so far."""
    searches_broadly_last: bool = True
    """Spend what is left of a budget on one last broad search if it fits."""
    reserves_report: bool = True
    """Hold the report's share of the budgets back from the start."""
    drafts_ahead: bool = True
    """Ask for the draft beside an assessment that will most likely end the run."""
    searches_ahead: bool = True
    """Search for what pages named beside an assessment that will most likely ask for it."""

    def topic_threshold(self, config: ResearchConfig) -> float:
        """Return the similarity from which on a topic repeats an earlier one."""
        if self.refuses_repeated_topics:
            return config.duplicate_topic_similarity_threshold
        return NO_TWINS


DEFAULT_RULES = Rules()
"""The engine as it is."""
