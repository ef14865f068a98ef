"""The single declaration of every knob of a run: name, default, range, unit and help.

Settings, `.env.example`, forms and documentation are generated from `ResearchConfig`. A knob's name
in the environment is its field's name in capitals; aliases are the names that other research agents
use for the same setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from research.engine.knobs import (
    ConfigError,
    Day,
    Kinds,
    Sites,
    Triple,
    define_knob,
    explain_refusal,
    knob_extra,
    parse_value,
)

MOST_SECONDS = 7 * 24 * 60 * 60
"""Longest time limit of a run."""


class ResearchConfig(BaseModel):
    """The frozen knobs of one run. Triples are (simple, ordinary, complex) questions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    deep_research_mode: Literal["adaptive", "fixed"] = define_knob(
        "adaptive",
        "Stop when the answer is good enough (adaptive), or search a whole tree (fixed).",
    )
    research_depth: Literal["quick", "standard", "thorough"] = define_knob(
        "standard",
        "How much is searched: as for a simple question (quick), as the question needs (standard), "
        "or as for a harder one (thorough).",
    )
    adaptive_quality_threshold: float = define_knob(
        7.0, "Research ends once its score reaches this.", unit="of 10", ge=1, le=10
    )
    adaptive_min_depth: int = define_knob(
        1, "Rounds before any quality rule may end a run.", unit="rounds", ge=1, le=20
    )
    adaptive_max_depth: int = define_knob(
        5, "Rounds after which every run ends.", unit="rounds", ge=1, le=20
    )
    adaptive_soft_depth: Triple = define_knob(
        (2, 3, 5),
        "Rounds after which a run ends by complexity, within the maximum.",
        unit="rounds",
        aliases=("MAX_RESEARCHER_ROUNDS",),
    )
    min_improvement_threshold: float = define_knob(
        0.5,
        "A smaller gain of the score between two rounds ends the run.",
        unit="points",
        ge=0,
        le=9,
    )
    enable_early_termination: bool = define_knob(
        True, "Let a run end early when it is stuck, finds nothing new or stops improving."
    )
    ask_when_unsure: bool = define_knob(
        False, "Before an early end, ask whether to dig deeper or whether it is sufficient."
    )
    ask_above_usd: float | None = define_knob(
        None,
        "A plan that costs at most this starts without asking. If empty, the web app asks before "
        "any paid plan; the command line always asks.",
        unit="US dollars",
        ge=0,
        le=10_000,
    )
    min_novelty_threshold: float = define_knob(
        0.15,
        "A smaller share of new words in a round's findings ends the run.",
        unit="0–1",
        ge=0,
        le=1,
    )
    duplicate_topic_similarity_threshold: float = define_knob(
        0.75, "A topic this similar to an earlier one is refused.", unit="0–1", ge=0, le=1
    )
    weight_completeness: float = define_knob(0.25, "Weight of completeness.", ge=0, le=1)
    weight_depth: float = define_knob(0.25, "Weight of depth.", ge=0, le=1)
    weight_reliability: float = define_knob(0.25, "Weight of reliability.", ge=0, le=1)
    weight_actionability: float = define_knob(0.25, "Weight of actionability.", ge=0, le=1)

    topics_per_round: Triple = define_knob((2, 4, 4), "Topics of one round.", unit="topics")
    max_pages_per_round: int | None = define_knob(
        None,
        "Pages read in one round. Default: 4, 8 or 12, by complexity.",
        unit="pages",
        ge=1,
        le=1_000,
    )
    max_research_units: int = define_knob(
        60,
        "Topics researched in a run.",
        unit="topics",
        ge=1,
        le=10_000,
        aliases=("MAX_RESEARCHER_ITERATIONS",),
    )
    max_concurrent_research_units: int = define_knob(
        4,
        "Topics researched at once.",
        unit="topics",
        ge=1,
        le=64,
        aliases=("DEEP_RESEARCH_CONCURRENCY",),
    )
    unit_tool_calls: Triple = define_knob(
        (4, 5, 10),
        "Searches and fetches of one topic; an unavailable page is replaced once.",
        unit="calls",
        aliases=("MAX_REACT_TOOL_CALLS",),
    )
    researcher_search_budget: int = define_knob(
        15, "Searches of one topic.", unit="searches", ge=1, le=1_000
    )
    max_search_results_for_agent: int = define_knob(
        8, "Results kept per search.", unit="results", ge=1, le=50
    )
    search_kind: Kinds = define_knob(
        ("web",),
        "Search the web at large (web), papers (academic) or videos (video); with commas between,"
        " each of them.",
    )
    search_language: str | None = define_knob(
        None,
        "Language of the pages to search for. Default: the language of the question.",
    )
    search_private_words: bool = define_knob(
        False, "Words that only your documents hold may be sent to web searches."
    )
    search_since: Day = define_knob(None, "Leave out pages from before this day.")
    search_until: Day = define_knob(None, "Leave out pages from after this day.")
    only_sites: Sites = define_knob((), "Keep to these sites and their subdomains.")
    never_sites: Sites = define_knob((), "Leave out these sites and their subdomains.")
    page_max_age_hours: float = define_knob(
        24,
        "A page that an earlier run fetched within this time is not fetched again; 0: always.",
        unit="hours",
        ge=0,
        le=87_600,
    )
    max_evidence_claims_per_research_unit: int = define_knob(
        5, "Claims kept per page.", unit="claims", ge=1, le=50
    )
    max_source_urls_per_claim: int = define_knob(
        5, "Sources kept per claim.", unit="sources", ge=1, le=50
    )
    unit_seconds: float = define_knob(
        60, "Time limit for one topic's search and fetches.", unit="seconds", gt=0, le=3_600
    )

    min_evidence_records: int | None = define_knob(
        None, "Evidence that the gate asks for. Default: 2, 5 or 8, by complexity.", ge=0, le=1_000
    )
    min_source_domains: int | None = define_knob(
        None,
        "Independent sites (or documents) that the gate asks for. Default: 1, 3 or 3, by "
        "complexity.",
        ge=0,
        le=1_000,
    )
    min_sources_per_aspect: Triple = define_knob(
        (1, 2, 2),
        "Independent sites (or documents) that an answered sub-question needs.",
        unit="sites",
    )
    gate_overview_min_sources: int = define_knob(
        3, "Sources that the overview gate asks for.", ge=0, le=1_000
    )
    gate_overview_relevance: float = define_knob(
        0.6, "Relevance from which a page counts for the overview gate.", unit="0–1", ge=0, le=1
    )
    gate_overview_pass_score: float = define_knob(
        0.8, "Pass score of the overview gate.", unit="0–1", ge=0, le=1
    )
    gate_deep_pass_score: float = define_knob(
        0.7, "Pass score of the deep-research gate.", unit="0–1", ge=0, le=1
    )

    max_seconds: float = define_knob(
        600, "Active time of a run.", unit="seconds", gt=0, le=MOST_SECONDS
    )
    max_llm_calls: int = define_knob(
        60, "Model calls of a run, failed ones too.", unit="calls", ge=0, le=10_000
    )
    max_tokens: int = define_knob(
        400_000, "Tokens of a run, prompts and answers.", unit="tokens", ge=0, le=1_000_000_000
    )
    max_cost_usd: float | None = define_knob(
        None, "A run stops before spending more.", unit="US dollars", ge=0, le=10_000
    )
    max_searches: int = define_knob(60, "Searches of a run.", unit="searches", ge=0, le=10_000)
    max_fetches: int = define_knob(120, "Pages fetched in a run.", unit="pages", ge=0, le=10_000)
    report_tokens: int = define_knob(
        24_000, "Tokens held back for the report from the start.", unit="tokens", ge=0, le=1_000_000
    )
    supervisor_notes_word_budget: int = define_knob(
        1200, "Words of the running summary in a prompt.", unit="words", ge=50, le=100_000
    )
    supervisor_notes_max_bullets: int = define_knob(
        40, "Findings in the running summary.", unit="findings", ge=1, le=10_000
    )

    deep_research_breadth: int = define_knob(
        4, "Queries of the first level in fixed mode.", ge=1, le=20
    )
    deep_research_depth: int = define_knob(2, "Levels of the tree in fixed mode.", ge=1, le=6)
    max_model_attempts: int = define_knob(
        4, "Attempts of one model task, repairs included.", unit="attempts", ge=1, le=10
    )
    model_profile: Literal["standard", "small"] = define_knob(
        "standard", "Ask a small model small things, one at a time (small), or one thing a task."
    )
    model_reasoning_tokens: int = define_knob(
        0,
        "Added to each answer's limit for a model that thinks before it answers.",
        unit="tokens",
        ge=0,
        le=1_000_000,
    )
    enable_verifier: bool = define_knob(
        True,
        "Have the model check statements that code can neither vouch for nor refuse, if it is"
        " qualified; otherwise they become quotations, as with the small model profile.",
    )
    verifier_most_errors: int = define_knob(
        16,
        "Errors on either half of the 160 labelled pairs above which a model is not believed as"
        " verifier.",
        unit="errors",
        ge=0,
        le=80,
    )
    verifier_most_missed_details: int = define_knob(
        2,
        "Unfaithful ones of the labelled pairs that a verifier may have missed to be believed on"
        " statements that nearly have their quotes' words or differ from them only in what wording"
        " tells, such as roles; those become quotations otherwise.",
        unit="errors",
        ge=0,
        le=80,
    )
    verifier_min_canaries: int = define_knob(
        6,
        "Fewest unfaithful pairs planted in a call of the verifier, and as many faithful ones.",
        unit="pairs",
        ge=1,
        le=40,
    )
    verifier_max_canaries: int = define_knob(
        12,
        "Most unfaithful pairs planted in a call of the verifier, and as many faithful ones.",
        unit="pairs",
        ge=1,
        le=40,
    )
    verifier_least_probability: float = define_knob(
        0.01,
        "A call of the verifier is disbelieved if its errors on planted pairs have a smaller"
        " probability at the rates it was qualified with.",
        unit="0–1",
        ge=0,
        le=0.5,
    )
    enable_online_evals: bool = define_knob(
        False, "Have a model mark the finished report (60 %) and how it came about (40 %)."
    )

    @field_validator("search_until")
    @classmethod
    def _in_order(cls, until: str | None, given: ValidationInfo) -> str | None:
        since = given.data.get("search_since")
        if until and since and until < since:
            raise ValueError(f"takes a day from {since} on")
        return until

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.adaptive_min_depth > self.adaptive_max_depth:
            raise ValueError(
                f"ADAPTIVE_MIN_DEPTH ({self.adaptive_min_depth}) is above "
                f"ADAPTIVE_MAX_DEPTH ({self.adaptive_max_depth})"
            )
        if self.verifier_min_canaries > self.verifier_max_canaries:
            raise ValueError(
                f"VERIFIER_MIN_CANARIES ({self.verifier_min_canaries}) is above "
                f"VERIFIER_MAX_CANARIES ({self.verifier_max_canaries})"
            )
        if not any(self.weights.values()):
            raise ValueError("one of the four dimension weights must be above 0")
        return self

    @property
    def has_verifier(self) -> bool:
        """Return whether the model may be asked to verify statements; small models are not."""
        return self.enable_verifier and self.model_profile != "small"

    @property
    def weights(self) -> dict[str, float]:
        return {
            "completeness": self.weight_completeness,
            "depth": self.weight_depth,
            "reliability": self.weight_reliability,
            "actionability": self.weight_actionability,
        }

    @classmethod
    def from_strings(cls, values: Mapping[str, str], base: ResearchConfig | None = None) -> Self:
        """Parse `{"MAX_SEARCHES": "20"}`; unknown names are refused.

        Raise `ConfigError`, which names every invalid knob.
        """
        known = knob_names()
        unknown = sorted(name for name in values if name.upper() not in known)
        if unknown:
            raise ConfigError(f"There is no setting called {', '.join(unknown)}.")
        given = {known[name.upper()]: parse_value(value) for name, value in values.items()}
        try:
            return cls.model_validate({**(base.model_dump() if base else {}), **given})
        except ValidationError as error:
            raise explain_refusal(error) from None


def knob_names() -> dict[str, str]:
    """Return every name of a knob, in capitals, aliases included → its field."""
    found = {name.upper(): name for name in ResearchConfig.model_fields}
    for name, info in ResearchConfig.model_fields.items():
        for alias in knob_extra(info)["aliases"]:
            found.setdefault(alias, name)
    return found
