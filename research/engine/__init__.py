"""The research engine as a library: ask a question, and get a report that cites what was read.

`run_in_memory` researches one question and returns what it found; `run_research` does the same
over a journal that you keep, so that a run can be resumed and replayed. The engine reaches the
outside only through the `Tools` that it is given. `docs/engine.md` shows it in ten lines.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from research.engine.assessment.assessment import Assessment
    from research.engine.assessment.rules import Rules
    from research.engine.assessment.stop_rule import (
        Continue,
        Decision,
        Situation,
        Stop,
        decide_stop,
        stop_reasons,
    )
    from research.engine.budget.meter import BudgetSpentError, Meter
    from research.engine.config import ResearchConfig
    from research.engine.journal import (
        EmptyInbox,
        Entry,
        Inbox,
        Journal,
        JournalEndsError,
        MemoryStore,
        ParkedError,
        Store,
    )
    from research.engine.knobs import ConfigError
    from research.engine.loop import run_in_memory, run_research
    from research.engine.ports import (
        Clock,
        Fetch,
        FetchFailedError,
        MeasuredModel,
        Model,
        ModelAnswer,
        ModelFailedError,
        ModelRequest,
        Page,
        Price,
        PricedModel,
        Search,
        SearchAnswer,
        SearchFailedError,
        SearchHit,
        SearchRequest,
        StreamingModel,
        ToolFailedError,
        Tools,
    )
    from research.engine.records import (
        Aspect,
        AspectState,
        Citation,
        Complexity,
        Criterion,
        Dimensions,
        Evidence,
        Gap,
        GateName,
        GateResult,
        Plan,
        PlannedAspect,
        Problem,
        QuoteSource,
        Record,
        Report,
        Round,
        RunState,
        Source,
        Stage,
        Status,
        StopReason,
        Usage,
        key_of,
    )
    from research.engine.records.result import RunResult
    from research.engine.rounds.topics import Topic, choose_topics, next_topics
    from research.engine.run import Question
    from research.engine.threads.seed import ReportFormat, Seed

__all__ = [
    "Aspect",
    "AspectState",
    "Assessment",
    "BudgetSpentError",
    "Citation",
    "Clock",
    "Complexity",
    "ConfigError",
    "Continue",
    "Criterion",
    "Decision",
    "Dimensions",
    "EmptyInbox",
    "Entry",
    "Evidence",
    "Fetch",
    "FetchFailedError",
    "Gap",
    "GateName",
    "GateResult",
    "Inbox",
    "Journal",
    "JournalEndsError",
    "MeasuredModel",
    "MemoryStore",
    "Meter",
    "Model",
    "ModelAnswer",
    "ModelFailedError",
    "ModelRequest",
    "Page",
    "ParkedError",
    "Plan",
    "PlannedAspect",
    "Price",
    "PricedModel",
    "Problem",
    "Question",
    "QuoteSource",
    "Record",
    "Report",
    "ReportFormat",
    "ResearchConfig",
    "Round",
    "Rules",
    "RunResult",
    "RunState",
    "Search",
    "SearchAnswer",
    "SearchFailedError",
    "SearchHit",
    "SearchRequest",
    "Seed",
    "Situation",
    "Source",
    "Stage",
    "Status",
    "Stop",
    "StopReason",
    "Store",
    "StreamingModel",
    "ToolFailedError",
    "Tools",
    "Topic",
    "Usage",
    "choose_topics",
    "decide_stop",
    "key_of",
    "next_topics",
    "run_in_memory",
    "run_research",
    "stop_reasons",
]

_NAMES_BY_MODULE = {
    "research.engine.assessment.assessment": ("Assessment",),
    "research.engine.assessment.rules": ("Rules",),
    "research.engine.assessment.stop_rule": (
        "Continue",
        "Decision",
        "Situation",
        "Stop",
        "decide_stop",
        "stop_reasons",
    ),
    "research.engine.budget.meter": ("BudgetSpentError", "Meter"),
    "research.engine.config": ("ResearchConfig",),
    "research.engine.journal": (
        "EmptyInbox",
        "Entry",
        "Inbox",
        "Journal",
        "JournalEndsError",
        "MemoryStore",
        "ParkedError",
        "Store",
    ),
    "research.engine.knobs": ("ConfigError",),
    "research.engine.loop": ("run_in_memory", "run_research"),
    "research.engine.ports": (
        "Clock",
        "Fetch",
        "FetchFailedError",
        "MeasuredModel",
        "Model",
        "ModelAnswer",
        "ModelFailedError",
        "ModelRequest",
        "Page",
        "Price",
        "PricedModel",
        "Search",
        "SearchAnswer",
        "SearchFailedError",
        "SearchHit",
        "SearchRequest",
        "StreamingModel",
        "ToolFailedError",
        "Tools",
    ),
    "research.engine.records": (
        "Aspect",
        "AspectState",
        "Citation",
        "Complexity",
        "Criterion",
        "Dimensions",
        "Evidence",
        "Gap",
        "GateName",
        "GateResult",
        "Plan",
        "PlannedAspect",
        "Problem",
        "QuoteSource",
        "Record",
        "Report",
        "Round",
        "RunState",
        "Source",
        "Stage",
        "Status",
        "StopReason",
        "Usage",
        "key_of",
    ),
    "research.engine.records.result": ("RunResult",),
    "research.engine.rounds.topics": ("Topic", "choose_topics", "next_topics"),
    "research.engine.run": ("Question",),
    "research.engine.threads.seed": ("ReportFormat", "Seed"),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name on first use.

    Programs that need one small module, such as the workers that extract text, then don't load
    the whole engine with the package.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
