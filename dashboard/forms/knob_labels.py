"""Plain names of the knobs, by purpose. The name of the variable comes second on the page."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "Depth and stopping": {
        "research_depth": "Depth",
        "deep_research_mode": "Mode",
        "adaptive_quality_threshold": "Score to reach",
        "adaptive_min_depth": "Minimum rounds",
        "adaptive_soft_depth": "Usual number of rounds",
        "adaptive_max_depth": "Maximum rounds",
        "enable_early_termination": "Stop early when stuck",
        "min_improvement_threshold": "Smallest useful gain",
        "min_novelty_threshold": "Smallest share of new findings",
        "duplicate_topic_similarity_threshold": "Similarity of a repeated topic",
    },
    "When you are asked": {
        "ask_above_usd": "Start without asking up to",
        "ask_when_unsure": "Ask before stopping early",
    },
    "Limits of a run": {
        "max_cost_usd": "Maximum cost",
        "max_seconds": "Maximum time",
        "max_llm_calls": "Maximum model calls",
        "max_tokens": "Maximum tokens",
        "max_searches": "Maximum searches",
        "max_fetches": "Maximum pages fetched",
        "report_tokens": "Tokens reserved for the report",
    },
    "What is searched": {
        "search_kind": "Kinds of pages",
        "search_language": "Language of the pages",
        "search_since": "Pages from",
        "search_until": "Pages up to",
        "only_sites": "Only these sites",
        "never_sites": "Blocked sites",
        "search_private_words": "Send words of your documents to web searches",
        "page_max_age_hours": "Reuse fetched pages for",
    },
    "Work in each round": {
        "topics_per_round": "Topics per round",
        "max_pages_per_round": "Pages per round",
        "max_research_units": "Topics per run",
        "max_concurrent_research_units": "Topics at the same time",
        "unit_tool_calls": "Searches and fetches per topic",
        "researcher_search_budget": "Searches per topic",
        "unit_seconds": "Time per topic",
        "max_search_results_for_agent": "Results per search",
        "max_evidence_claims_per_research_unit": "Claims per page",
        "max_source_urls_per_claim": "Sources per claim",
    },
    "Evidence required": {
        "min_evidence_records": "Minimum evidence",
        "min_source_domains": "Minimum independent sources",
        "min_sources_per_aspect": "Sources per sub-question",
        "gate_overview_min_sources": "Sources for the overview",
        "gate_overview_relevance": "Relevance of an overview source",
        "gate_overview_pass_score": "Score to pass the overview",
        "gate_deep_pass_score": "Score to pass deep research",
    },
    "Weights of the score": {
        "weight_completeness": "Completeness",
        "weight_depth": "Depth of treatment",
        "weight_reliability": "Reliability",
        "weight_actionability": "Actionability",
    },
    "Checks by a model": {
        "enable_verifier": "Let the model check statements",
        "verifier_most_errors": "Most errors of a verifier",
        "verifier_min_canaries": "Fewest test pairs per call",
        "verifier_max_canaries": "Most test pairs per call",
        "verifier_least_probability": "Least plausible error rate",
        "enable_online_evals": "Let a model mark the report",
    },
    "Model and prompts": {
        "model_profile": "Model profile",
        "model_reasoning_tokens": "Extra tokens for reasoning",
        "max_model_attempts": "Attempts per model task",
        "supervisor_notes_word_budget": "Words in the summary of findings",
        "supervisor_notes_max_bullets": "Findings in the summary",
    },
    "Fixed mode": {
        "deep_research_breadth": "Queries at the first level",
        "deep_research_depth": "Levels",
    },
}
OTHERS = "Other settings"
LABELS = {name: label for names in GROUPS.values() for name, label in names.items()}
