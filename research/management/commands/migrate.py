"""`manage.py migrate`: Django's command without the system checks that import every page."""

from __future__ import annotations

from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate


class Command(migrate.Command):
    requires_system_checks: Any = (Tags.database, Tags.models)
