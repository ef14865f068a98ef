"""Django app configuration of the dashboard."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        from dashboard.live.progress_publisher import announce_sequence
        from research.worker import notify

        notify.on_committed.append(announce_sequence)
