"""The dashboard as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        from dashboard.announce import announce
        from research import notify

        notify.on_committed.append(announce)
