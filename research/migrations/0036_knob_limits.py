"""Lower the knobs of stored runs and schedules to the limits that they have since."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

LIMITS = {
    "ask_above_usd": 10_000,
    "max_cost_usd": 10_000,
    "max_seconds": 604_800,
    "unit_seconds": 3_600,
    "max_llm_calls": 10_000,
    "max_tokens": 1_000_000_000,
    "max_searches": 10_000,
    "max_fetches": 10_000,
    "max_pages_per_round": 1_000,
    "max_research_units": 10_000,
    "researcher_search_budget": 1_000,
    "page_max_age_hours": 87_600,
    "min_evidence_records": 1_000,
    "min_source_domains": 1_000,
    "gate_overview_min_sources": 1_000,
    "report_tokens": 1_000_000,
    "model_reasoning_tokens": 1_000_000,
    "supervisor_notes_word_budget": 100_000,
    "supervisor_notes_max_bullets": 10_000,
}


def lower(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    for model in ("Run", "Schedule"):
        rows = apps.get_model("research", model)._default_manager
        for key, config in list(rows.values_list("pk", "config").iterator()):
            lowered = {
                name: most
                for name, most in LIMITS.items()
                if isinstance(config.get(name), int | float) and config[name] > most
            }
            if lowered:
                rows.filter(pk=key).update(config={**config, **lowered})


class Migration(migrations.Migration):
    dependencies = [("research", "0035_further_commands")]

    operations = [migrations.RunPython(lower, migrations.RunPython.noop)]
