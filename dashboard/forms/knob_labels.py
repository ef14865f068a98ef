"""Plain names of the knobs, by purpose. The page shows the names of the variables on request."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

GROUPS: dict[Promise, dict[str, Promise]] = {
    _("What is searched"): {
        "search_language": _("Language of the pages"),
        "search_since": _("Pages from"),
        "search_until": _("Pages up to"),
        "only_sites": _("Only these sites"),
        "never_sites": _("Blocked sites"),
        "search_kind": _("Kinds of pages"),
        "search_private_words": _("Send words of your documents to web searches"),
        "page_max_age_hours": _("Reuse fetched pages for"),
    },
    _("Depth and length"): {
        "research_depth": _("Depth"),
        "deep_research_mode": _("When research ends"),
        "report_tokens": _("Tokens reserved for the report"),
    },
    _("When you are asked"): {
        "ask_above_usd": _("Start without asking up to"),
        "ask_when_unsure": _("Ask before stopping early"),
    },
    _("Limits of a run"): {
        "max_cost_usd": _("Maximum cost"),
        "max_seconds": _("Maximum time"),
        "max_llm_calls": _("Maximum model calls"),
        "max_tokens": _("Maximum tokens"),
        "max_searches": _("Maximum searches"),
        "max_fetches": _("Maximum pages fetched"),
    },
    _("Checks by a model"): {
        "enable_verifier": _("Let the model check statements"),
        "enable_online_evals": _("Let a model mark the report"),
    },
    _("Thresholds for stopping"): {
        "adaptive_quality_threshold": _("Target score"),
        "adaptive_min_depth": _("Minimum rounds"),
        "adaptive_soft_depth": _("Usual number of rounds"),
        "adaptive_max_depth": _("Maximum rounds"),
        "enable_early_termination": _("Stop early when stuck"),
        "min_improvement_threshold": _("Smallest useful gain"),
        "min_novelty_threshold": _("Smallest share of new words"),
        "duplicate_topic_similarity_threshold": _("Similarity of a repeated topic"),
    },
    _("Work in each round"): {
        "topics_per_round": _("Topics per round"),
        "max_pages_per_round": _("Pages per round"),
        "max_research_units": _("Topics per run"),
        "max_concurrent_research_units": _("Topics at the same time"),
        "unit_tool_calls": _("Searches and fetches per topic"),
        "researcher_search_budget": _("Searches per topic"),
        "unit_seconds": _("Time per topic"),
        "max_search_results_for_agent": _("Results per search"),
        "max_evidence_claims_per_research_unit": _("Claims per page"),
        "max_source_urls_per_claim": _("Sources per claim"),
    },
    _("Evidence required"): {
        "min_evidence_records": _("Minimum evidence"),
        "min_source_domains": _("Minimum independent sites"),
        "min_sources_per_aspect": _("Sites per sub-question"),
        "gate_overview_min_sources": _("Sources for the overview"),
        "gate_overview_relevance": _("Relevance of an overview source"),
        "gate_overview_pass_score": _("Score to pass the overview"),
        "gate_deep_pass_score": _("Score to pass deep research"),
    },
    _("Weights of the score"): {
        "weight_completeness": _("Completeness"),
        "weight_depth": _("Depth of treatment"),
        "weight_reliability": _("Reliability"),
        "weight_actionability": _("Actionability"),
    },
    _("Trust in the checking model"): {
        "verifier_most_errors": _("Most errors of a verifier"),
        "verifier_most_missed_details": _("Most errors to be trusted on details"),
        "verifier_min_canaries": _("Fewest test pairs per call"),
        "verifier_max_canaries": _("Most test pairs per call"),
        "verifier_least_probability": _("Least plausible error rate"),
    },
    _("Model and prompts"): {
        "model_profile": _("Model profile"),
        "model_reasoning_tokens": _("Extra tokens for reasoning"),
        "max_model_attempts": _("Attempts per model task"),
        "supervisor_notes_word_budget": _("Words in the summary of findings"),
        "supervisor_notes_max_bullets": _("Findings in the summary"),
    },
    _("Fixed mode"): {
        "deep_research_breadth": _("Queries at the first level"),
        "deep_research_depth": _("Levels"),
    },
}
OTHERS = _("Other settings")
EXPERT = _("Thresholds for stopping")
"""The first of the groups that few people need."""
PURPOSES = (
    _("Which pages count: kind, language, age, site"),
    _("How far research goes, and how long the report gets"),
    _("What a run may do without asking"),
    _("The most time, money and work of one run"),
    _("Whether a model checks statements and marks the report"),
    _("When findings are good enough, and when to give up"),
    _("How much is searched and read before the result is judged"),
    _("How much evidence an answer needs"),
    _("How much each criterion counts in the score"),
    _("How reliable a model must be to check statements"),
    _("How the model is asked"),
    _("For research as a tree of a fixed size only"),
)
"""What the groups are for, in their order; texts that are translated later are no keys."""
MODES = [("adaptive", _("When good enough")), ("fixed", _("After a tree of fixed size"))]
CHOICES = {
    "research_depth": [
        ("quick", _("Quick")),
        ("standard", _("Standard")),
        ("thorough", _("Thorough")),
    ],
    "deep_research_mode": MODES,
    "model_profile": [
        ("standard", _("Standard")),
        ("small", _("Small: short prompts, one task at a time")),
    ],
}
"""What a choice is called on the page, for the knobs that have one."""
LABELS = {name: label for names in GROUPS.values() for name, label in names.items()}

LANGUAGES = {
    "": _("As the question"),
    "ar": _("Arabic"),
    "zh": _("Chinese"),
    "cs": _("Czech"),
    "da": _("Danish"),
    "nl": _("Dutch"),
    "en": _("English"),
    "fi": _("Finnish"),
    "fr": _("French"),
    "de": _("German"),
    "el": _("Greek"),
    "he": _("Hebrew"),
    "hi": _("Hindi"),
    "it": _("Italian"),
    "ja": _("Japanese"),
    "ko": _("Korean"),
    "no": _("Norwegian"),
    "pl": _("Polish"),
    "pt": _("Portuguese"),
    "ru": _("Russian"),
    "es": _("Spanish"),
    "sv": _("Swedish"),
    "tr": _("Turkish"),
    "uk": _("Ukrainian"),
}
