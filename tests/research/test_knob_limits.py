"""Runs and schedules that were stored before knobs had limits stay readable."""

from __future__ import annotations

from importlib import import_module

from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection

from research.engine.config import ResearchConfig
from research.models import Run
from tests.dashboard.conftest import make_run

migration = import_module("research.migrations.0036_knob_limits")


def test_stored_knobs_above_their_limits_are_lowered_to_them(admin_user: User) -> None:
    run, other = make_run(admin_user), make_run(admin_user)
    extreme = {**run.config, "max_cost_usd": 1e99, "max_seconds": 1e30, "max_searches": 7}
    Run.objects.filter(pk=run.pk).update(config=extreme)
    migration.lower(apps, connection.schema_editor())
    run.refresh_from_db()
    config = ResearchConfig.model_validate(run.config)
    assert (config.max_cost_usd, config.max_seconds, config.max_searches) == (10_000, 604_800, 7)
    assert Run.objects.get(pk=other.pk).config == other.config


def test_the_limits_are_those_of_the_knobs() -> None:
    for name, most in migration.LIMITS.items():
        rules = ResearchConfig.model_fields[name].metadata
        assert most in [getattr(rule, "le", None) for rule in rules], name
