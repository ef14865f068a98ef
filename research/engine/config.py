"""Every knob of a run, once: name, default, range, unit and help.

Settings, `.env.example`, forms and documentation are generated from `ResearchConfig`.
The environment's name of a knob is its field's name in capitals; aliases are the names
that other research agents use for the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo

from research.engine.records import Complexity
from research.engine.tools import SearchKind

_HOST = re.compile(r"(?=.{1,253}$)[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)*")


def _listed(value: Any) -> Any:
    """One site, or none, is a list as well."""
    return () if value in (None, "") else (value,) if isinstance(value, str) else value


def _site(written: str) -> str:
    """A host's name: what stands around it in an address is left out."""
    host = re.sub(r"^\w+://", "", written.strip().lower()).split("/")[0].removeprefix("www.")
    if not _HOST.fullmatch(host):
        raise ValueError("takes names of sites, such as example.org, with commas between")
    return host


def _day(written: str | None) -> str | None:
    if not written:
        return None
    try:
        return date.fromisoformat(written.strip()).isoformat()
    except ValueError:
        raise ValueError("takes a day, such as 2026-01-31") from None


Triple = tuple[PositiveInt, PositiveInt, PositiveInt]
Sites = Annotated[tuple[Annotated[str, AfterValidator(_site)], ...], BeforeValidator(_listed)]
Day = Annotated[str | None, AfterValidator(_day)]


class ConfigError(ValueError):
    """Knobs that cannot be used; the message names each and says what it takes.

    `problems`: the same by field, '' for what concerns several.
    """

    def __init__(self, message: str, problems: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.problems = dict(problems or {})


def knob(
    default: Any, help: str, *, unit: str = "", aliases: tuple[str, ...] = (), **rules: Any
) -> Any:
    return Field(
        default,
        description=help,
        json_schema_extra={"unit": unit, "aliases": list(aliases)},
        **rules,
    )


class ResearchConfig(BaseModel):
    """The frozen knobs of one run. Triples are (simple, ordinary, complex) questions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    deep_research_mode: Literal["adaptive", "fixed"] = knob(
        "adaptive", "Stop by quality (adaptive) or search a tree of a fixed size (fixed)."
    )
    research_depth: Literal["quick", "standard", "thorough"] = knob(
        "standard",
        "Limits as for a simple question (quick), as the question asks for (standard), "
        "or as for the next kind up (thorough).",
    )
    adaptive_quality_threshold: float = knob(
        7.0, "Research ends once its score reaches this.", unit="of 10", ge=1, le=10
    )
    adaptive_min_depth: int = knob(
        1, "Rounds before any quality rule may end a run.", unit="rounds", ge=1, le=20
    )
    adaptive_max_depth: int = knob(
        5, "Rounds after which every run ends.", unit="rounds", ge=1, le=20
    )
    adaptive_soft_depth: Triple = knob(
        (2, 3, 5),
        "Rounds after which a run ends by complexity, within the maximum.",
        unit="rounds",
        aliases=("MAX_RESEARCHER_ROUNDS",),
    )
    min_improvement_threshold: float = knob(
        0.5,
        "A smaller gain of the score between two rounds ends the run.",
        unit="points",
        ge=0,
        le=9,
    )
    enable_early_termination: bool = knob(
        True, "Let a run end early when it is stuck, finds nothing new or stops improving."
    )
    ask_when_unsure: bool = knob(
        False, "Before an early end, ask whether to dig deeper or whether it is sufficient."
    )
    min_novelty_threshold: float = knob(
        0.15,
        "A smaller share of new words in a round's findings ends the run.",
        unit="0-1",
        ge=0,
        le=1,
    )
    duplicate_topic_similarity_threshold: float = knob(
        0.75, "A topic this similar to an earlier one is refused.", unit="0-1", ge=0, le=1
    )
    weight_completeness: float = knob(0.25, "Weight of completeness.", ge=0, le=1)
    weight_depth: float = knob(0.25, "Weight of depth.", ge=0, le=1)
    weight_reliability: float = knob(0.25, "Weight of reliability.", ge=0, le=1)
    weight_actionability: float = knob(0.25, "Weight of actionability.", ge=0, le=1)

    topics_per_round: Triple = knob((2, 4, 4), "Topics of one round.", unit="topics")
    max_pages_per_round: int | None = knob(
        None, "Pages read in one round; by complexity (4, 8, 12) where not set.", unit="pages", ge=1
    )
    max_research_units: int = knob(
        60,
        "Topics researched in a run.",
        unit="topics",
        ge=1,
        aliases=("MAX_RESEARCHER_ITERATIONS",),
    )
    max_concurrent_research_units: int = knob(
        4,
        "Topics researched at once.",
        unit="topics",
        ge=1,
        le=64,
        aliases=("DEEP_RESEARCH_CONCURRENCY",),
    )
    unit_tool_calls: Triple = knob(
        (3, 5, 10),
        "Searches and fetches of one topic; a page that is not to be had is replaced once.",
        unit="calls",
        aliases=("MAX_REACT_TOOL_CALLS",),
    )
    researcher_search_budget: int = knob(15, "Searches of one topic.", unit="searches", ge=1)
    max_search_results_for_agent: int = knob(
        8, "Results kept of one search.", unit="results", ge=1, le=50
    )
    search_kind: SearchKind = knob(
        "web", "Search the web at large (web), papers (academic) or videos (video)."
    )
    search_language: str | None = knob(
        None, "Language of the pages to search for; the question's where not set."
    )
    search_since: Day = knob(None, "Leave out pages from before this day.")
    search_until: Day = knob(None, "Leave out pages from after this day.")
    only_sites: Sites = knob((), "Keep to these sites and their subdomains.")
    never_sites: Sites = knob((), "Leave out these sites and their subdomains.")
    page_max_age_hours: float = knob(
        24,
        "A page that an earlier run fetched within this time is not fetched again; 0: always.",
        unit="hours",
        ge=0,
    )
    max_evidence_claims_per_research_unit: int = knob(
        5, "Claims kept of one page.", unit="claims", ge=1, le=50
    )
    max_source_urls_per_claim: int = knob(
        5, "Sources kept of one claim.", unit="sources", ge=1, le=50
    )
    unit_seconds: float = knob(
        60, "A topic waits no longer for its search or its pages.", unit="seconds", gt=0
    )

    min_evidence_records: int | None = knob(
        None, "Evidence that the gate asks for; by complexity (2, 5, 8) where not set.", ge=0
    )
    min_source_domains: int | None = knob(
        None,
        "Independent sources that the gate asks for; by complexity (1, 3, 3) where not set.",
        ge=0,
    )
    min_sources_per_aspect: Triple = knob(
        (1, 2, 2), "Independent sources that an answered sub-question needs.", unit="sources"
    )
    gate_overview_min_sources: int = knob(3, "Sources that the overview gate asks for.", ge=0)
    gate_overview_relevance: float = knob(
        0.6, "Relevance from which a page counts for the overview gate.", unit="0-1", ge=0, le=1
    )
    gate_overview_pass_score: float = knob(
        0.8, "Pass score of the overview gate.", unit="0-1", ge=0, le=1
    )
    gate_deep_pass_score: float = knob(
        0.7, "Pass score of the deep-research gate.", unit="0-1", ge=0, le=1
    )

    max_seconds: float = knob(600, "Active time of a run.", unit="seconds", gt=0)
    max_llm_calls: int = knob(60, "Model calls of a run, failed ones too.", unit="calls", ge=0)
    max_tokens: int = knob(400_000, "Tokens of a run, prompts and answers.", unit="tokens", ge=0)
    max_cost_usd: float | None = knob(None, "Money of a run.", unit="US dollars", ge=0)
    max_searches: int = knob(60, "Searches of a run.", unit="searches", ge=0)
    max_fetches: int = knob(120, "Pages fetched in a run.", unit="pages", ge=0)
    report_tokens: int = knob(
        24_000, "Tokens held back for the report from the start.", unit="tokens", ge=0
    )
    supervisor_notes_word_budget: int = knob(
        1200, "Words of the running summary in a prompt.", unit="words", ge=50
    )
    supervisor_notes_max_bullets: int = knob(
        40, "Findings in the running summary.", unit="findings", ge=1
    )

    deep_research_breadth: int = knob(4, "Queries of the first level in fixed mode.", ge=1, le=20)
    deep_research_depth: int = knob(2, "Levels of the tree in fixed mode.", ge=1, le=6)
    max_model_attempts: int = knob(
        4, "Attempts of one model task, repairs included.", unit="attempts", ge=1, le=10
    )
    model_profile: Literal["standard", "small"] = knob(
        "standard", "Ask a small model small things, one at a time (small), or one thing a task."
    )
    model_reasoning_tokens: int = knob(
        0,
        "Added to each answer's limit for a model that thinks before it answers.",
        unit="tokens",
        ge=0,
    )
    enable_online_evals: bool = knob(
        False, "Have a model mark the finished report (60 %) and how it came about (40 %)."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.adaptive_min_depth > self.adaptive_max_depth:
            raise ValueError(
                f"ADAPTIVE_MIN_DEPTH ({self.adaptive_min_depth}) is above "
                f"ADAPTIVE_MAX_DEPTH ({self.adaptive_max_depth})"
            )
        if self.search_since and self.search_until and self.search_since > self.search_until:
            raise ValueError(
                f"SEARCH_SINCE ({self.search_since}) is after SEARCH_UNTIL ({self.search_until})"
            )
        if not any(self.weights.values()):
            raise ValueError("one of the four dimension weights must be above 0")
        return self

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
        """Read `{"MAX_SEARCHES": "20"}`; names that are no knob are refused.

        Raises `ConfigError` that names every knob that cannot be used.
        """
        known = names()
        unknown = sorted(name for name in values if name.upper() not in known)
        if unknown:
            raise ConfigError(f"There is no setting called {', '.join(unknown)}.")
        given = {known[name.upper()]: _parse(value) for name, value in values.items()}
        try:
            return cls.model_validate({**(base.model_dump() if base else {}), **given})
        except ValidationError as error:
            raise _explain(error) from None


def names() -> dict[str, str]:
    """Every name a knob goes by (capitals) → its field."""
    found = {name.upper(): name for name in ResearchConfig.model_fields}
    for name, info in ResearchConfig.model_fields.items():
        for alias in extra(info)["aliases"]:
            found.setdefault(alias, name)
    return found


def extra(info: FieldInfo) -> dict[str, Any]:
    """Unit and aliases of a knob."""
    declared = info.json_schema_extra
    assert isinstance(declared, dict)
    return declared


def _parse(value: str) -> Any:
    text = value.strip()
    if text.lower() in {"", "none"}:
        return None
    if "," in text:
        return tuple(part.strip() for part in text.split(","))
    return text


_SAYS = {
    "int_parsing": "takes a whole number",
    "int_from_float": "takes a whole number",
    "float_parsing": "takes a number",
    "bool_parsing": "takes on or off",
    "greater_than_equal": "takes {ge} or more",
    "greater_than": "takes more than {gt}",
    "less_than_equal": "takes {le} or less",
    "literal_error": "takes {expected}",
    "tuple_type": "takes three numbers with commas between",
    "missing": "takes three numbers with commas between",
    "too_long": "takes three numbers with commas between",
}


def _explain(error: ValidationError) -> ConfigError:
    problems: dict[str, str] = {}
    for problem in error.errors():
        name = str(problem["loc"][0]) if problem["loc"] else ""
        says = _SAYS.get(problem["type"], "")
        text = says.format(**problem.get("ctx", {})) if says else problem["msg"]
        text = text.removeprefix("Value error, ")
        given = f", not {problem['input']!r}" if isinstance(problem["input"], str) else ""
        problems[name] = f"{text}{given}"
    told = (f"{name.upper()} {text}".strip() for name, text in problems.items())
    return ConfigError("; ".join(told) + ".", problems)


@dataclass(frozen=True)
class Limits:
    """The limits and minima that follow a question's complexity."""

    topics_per_round: int
    rounds: int
    tool_calls: int
    pages_per_round: int
    evidence_records: int
    independent_sources: int
    sources_per_aspect: int


def limits(config: ResearchConfig, complexity: Complexity) -> Limits:
    """The column of the table in `docs/architecture.md` for this complexity."""
    kinds = list(Complexity)
    column = {
        "quick": 0,
        "standard": kinds.index(complexity),
        "thorough": min(kinds.index(complexity) + 1, len(kinds) - 1),
    }[config.research_depth]

    def pick(triple: Triple) -> int:
        return triple[column]

    return Limits(
        topics_per_round=pick(config.topics_per_round),
        rounds=max(
            config.adaptive_min_depth,
            min(pick(config.adaptive_soft_depth), config.adaptive_max_depth),
        ),
        tool_calls=pick(config.unit_tool_calls),
        pages_per_round=config.max_pages_per_round or pick((4, 8, 12)),
        evidence_records=_or(config.min_evidence_records, pick((2, 5, 8))),
        independent_sources=_or(config.min_source_domains, pick((1, 3, 3))),
        sources_per_aspect=pick(config.min_sources_per_aspect),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
