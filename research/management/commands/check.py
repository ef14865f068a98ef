"""`manage.py check`: Django's command, also with its result as JSON."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from django.core import checks
from django.core.management.base import CommandParser
from django.core.management.commands import check


class Command(check.Command):
    as_json = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON list")

    def handle(self, *app_labels: str, **options: Any) -> None:
        self.as_json = options["json"]
        super().handle(*app_labels, **options)

    def check(
        self,
        app_configs: Any = None,
        tags: Any = None,
        display_num_errors: bool = False,
        include_deployment_checks: bool = False,
        fail_level: int = checks.ERROR,
        databases: Any = None,
    ) -> None:
        asked = {
            "app_configs": app_configs,
            "tags": tags,
            "include_deployment_checks": include_deployment_checks,
            "databases": databases,
        }
        if not self.as_json:
            super().check(display_num_errors=display_num_errors, fail_level=fail_level, **asked)
            return
        found = [issue for issue in checks.run_checks(**asked) if not issue.is_silenced()]
        told = [
            {
                "level": logging.getLevelName(issue.level).lower(),
                "id": issue.id,
                "message": issue.msg,
                "hint": issue.hint,
            }
            for issue in found
        ]
        self.stdout.write(json.dumps(told, ensure_ascii=False, indent=1, default=str))
        if any(issue.is_serious(fail_level) for issue in found):
            sys.exit(1)
