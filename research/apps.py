"""The app that does the research; `dashboard` shows it."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class ResearchApp(AppConfig):
    name = "research"
    verbose_name = "Research"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from research.runtime.settings_check import TAG, check_settings, check_sqlite

        checks.register(check_settings, TAG)
        checks.register(check_sqlite, TAG)
