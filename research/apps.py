"""The app that does the research; `dashboard` shows it."""

from __future__ import annotations

from django.apps import AppConfig


class ResearchApp(AppConfig):
    name = "research"
    verbose_name = "Research"
    default_auto_field = "django.db.models.BigAutoField"
