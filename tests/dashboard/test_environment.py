from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard import environment

ROOT = Path(__file__).resolve().parents[2]


def test_the_nearest_env_file_upwards_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".env").touch()
    assert environment.find_env_file({}, inner) == tmp_path / ".env"


def test_a_named_env_file_comes_first_and_must_exist(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    other = tmp_path / "other.env"
    with pytest.raises(ImproperlyConfigured, match="DEEPRESEARCH_ENV_FILE"):
        environment.find_env_file({"DEEPRESEARCH_ENV_FILE": str(other)}, tmp_path)
    other.touch()
    assert environment.find_env_file({"DEEPRESEARCH_ENV_FILE": str(other)}, tmp_path) == other


def test_the_real_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.env"
    file.write_text("PORT=8111\nMAX_SEARCHES=7\n")
    code = (
        "from django.conf import settings;"
        "print(settings.PORT, settings.RESEARCH_DEFAULTS.max_searches)"
    )
    done = python(tmp_path, "-c", code, DEEPRESEARCH_ENV_FILE=str(file), PORT="8222")
    assert done.stdout.split() == ["8222", "7"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eight"),
        ("DEBUG", "perhaps"),
        ("DATABASE_URL", "mysql://x/y"),
        ("REDIS_URL", "nowhere"),
        ("SEARXNG_URL", "localhost:8080"),
        ("BRAVE_URL", "api.search.brave.com"),
        ("SEARCH_RATES", "brave=fast"),
        ("FETCH_INTERVAL_SECONDS", "-1"),
        ("FETCH_AT_ONCE", "0"),
        ("FETCH_ROBOTS", "perhaps"),
        ("DOCUMENT_INDEX", "elsewhere"),
        ("ONLY_SITES", "not a site"),
        ("SEARCH_SINCE", "yesterday"),
        ("MAX_SEARCHES", "many"),
        ("ADAPTIVE_MIN_DEPTH", "9"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, name: str, value: str
) -> None:
    done = python(tmp_path, "manage.py", "check", **{name: value})
    assert done.returncode == 2
    assert name in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_the_secret_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    first = environment.secret_key(tmp_path)
    assert environment.secret_key(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_an_alias_sets_its_knob_and_the_own_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_RESEARCHER_ITERATIONS", "11")
    assert environment.research_defaults().max_research_units == 11
    monkeypatch.setenv("MAX_RESEARCH_UNITS", "12")
    assert environment.research_defaults().max_research_units == 12


def test_providers_know_what_is_set_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*environment.PROVIDER_URLS, *environment.PROVIDER_KEYS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    monkeypatch.setenv("SEARCH_RATES", "brave=20, arxiv=0.5")
    assert environment.providers() == {
        "brave_api_key": "key",
        "per_second": {"brave": 20.0, "arxiv": 0.5},
    }


def test_sqlite_takes_its_lock_at_the_start_of_a_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'other.sqlite3'}")
    settings = environment.database(tmp_path)
    assert settings["NAME"] == str(tmp_path / "other.sqlite3")
    assert settings["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_is_told_from_what_others_can_reach(host: str, loopback: bool) -> None:
    assert environment.is_loopback(host) is loopback


def python(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "DEEPRESEARCH_ENV_FILE": os.devnull,
            "PLUMBLINE_HOME": str(home / "state"),
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
