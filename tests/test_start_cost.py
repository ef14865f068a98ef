"""Starting a process imports what every command needs, and nothing that one command needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks.urls import check_resolver

from config.urls import LateRoutes, urlpatterns

ROOT = Path(__file__).parents[1]
HEAVY = {"docx", "httpx", "jinja2", "mcp", "ninja", "openai", "redis", "requests", "trafilatura"}


def imported_by(code: str, home: Path) -> set[str]:
    """Return the top-level packages that a fresh interpreter has imported after `code`."""
    code += "; import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEEPRESEARCH_ENV_FILE": os.devnull,
        "PLUMBLINE_HOME": str(home),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.subprocess
def test_django_is_set_up_without_the_libraries_of_single_commands(tmp_path: Path) -> None:
    assert imported_by("import django; django.setup()", tmp_path) & HEAVY == set()


@pytest.mark.subprocess
def test_a_migration_imports_no_pages(tmp_path: Path) -> None:
    code = "import django; django.setup(); from django.core.management import call_command"
    code += "; call_command('migrate', verbosity=0)"
    assert imported_by(code, tmp_path) & HEAVY == set()


@pytest.mark.subprocess
def test_the_system_checks_import_no_api(tmp_path: Path) -> None:
    code = "import django; django.setup(); from django.core.management import call_command"
    code += "; call_command('check')"
    assert imported_by(code, tmp_path) & {"mcp", "ninja", "openai", "docx"} == set()


@pytest.mark.subprocess
def test_a_process_without_model_postgresql_or_redis_imports_none_of_their_clients(
    tmp_path: Path,
) -> None:
    code = "import django; django.setup(); import research.worker.run_executor, dashboard.live.hub"
    code += "; from research.runtime.tool_factory import Parts"
    code += "; Parts().model(None)"
    assert imported_by(code, tmp_path) & {"openai", "psycopg", "redis"} == set()


@pytest.mark.parametrize("prefix", ["api/v1/", "v1/"])
def test_late_routes_pass_the_checks_that_django_makes_without_them(prefix: str) -> None:
    [late] = [
        each for each in urlpatterns if isinstance(each, LateRoutes) and str(each.pattern) == prefix
    ]
    late.resolve(f"{prefix}models" if prefix == "v1/" else f"{prefix}runs")
    assert late.url_patterns
    assert check_resolver(late) == []
