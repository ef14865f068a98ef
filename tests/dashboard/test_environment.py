from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from research.llm.local import AT_PORT
from research.search.providers import ProviderSettings, declared_settings

ROOT = Path(__file__).resolve().parents[2]


def test_an_installed_package_keeps_its_state_with_the_user_s_data(tmp_path: Path) -> None:
    installed = environment.default_state_folder(tmp_path)
    assert installed == Path("~/.local/share/plumbline")
    (tmp_path / "pyproject.toml").touch()
    assert environment.default_state_folder(tmp_path) == tmp_path / "var"


@pytest.mark.requirement("D16")
def test_the_nearest_env_file_upwards_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".env").touch()
    assert environment.find_env_file({}, inner) == tmp_path / ".env"


@pytest.mark.requirement("D16")
def test_a_named_env_file_comes_first_and_must_exist(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    other = tmp_path / "other.env"
    with pytest.raises(ImproperlyConfigured, match="DEEPRESEARCH_ENV_FILE"):
        environment.find_env_file({"DEEPRESEARCH_ENV_FILE": str(other)}, tmp_path)
    other.touch()
    assert environment.find_env_file({"DEEPRESEARCH_ENV_FILE": str(other)}, tmp_path) == other


@pytest.mark.requirement("D16")
@pytest.mark.subprocess
def test_the_real_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.env"
    file.write_text("PORT=8111\nMAX_SEARCHES=7\n")
    code = (
        "from django.conf import settings;"
        "print(settings.PORT, settings.RESEARCH_DEFAULTS.max_searches)"
    )
    done = python(tmp_path, "-c", code, DEEPRESEARCH_ENV_FILE=str(file), PORT="8222")
    assert done.stdout.split() == ["8222", "7"]


@pytest.mark.requirement("A14")
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
        ("SEARCH_AT_ONCE", "0"),
        ("FETCH_INTERVAL_SECONDS", "-1"),
        ("FETCH_AT_ONCE", "0"),
        ("KEEP_RUNS_DAYS", "a month"),
        ("KEEP_RUNS_DAYS", "-1"),
        ("KEEP_RUNS_DAYS", "40000"),
        ("FETCH_ROBOTS", "perhaps"),
        ("DOCUMENT_INDEX", "elsewhere"),
        ("ONLY_SITES", "not a site"),
        ("SEARCH_SINCE", "yesterday"),
        ("MAX_SEARCHES", "many"),
        ("ADAPTIVE_MIN_DEPTH", "9"),
    ],
)
@pytest.mark.subprocess
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


@pytest.mark.requirement("settings")
def test_an_alias_sets_its_knob_and_the_own_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_RESEARCHER_ITERATIONS", "11")
    assert environment.research_defaults().max_research_units == 11
    monkeypatch.setenv("MAX_RESEARCH_UNITS", "12")
    assert environment.research_defaults().max_research_units == 12


@pytest.mark.requirement("A13", "A14", "B5")
@pytest.mark.parametrize(
    ("name", "value", "knob", "set_to"),
    [
        ("DEEP_RESEARCH_MODE", "fixed", "deep_research_mode", "fixed"),
        ("ADAPTIVE_QUALITY_THRESHOLD", "6.5", "adaptive_quality_threshold", 6.5),
        ("ADAPTIVE_MIN_DEPTH", "2", "adaptive_min_depth", 2),
        ("ADAPTIVE_MAX_DEPTH", "4", "adaptive_max_depth", 4),
        ("MIN_IMPROVEMENT_THRESHOLD", "0.3", "min_improvement_threshold", 0.3),
        ("DEEP_RESEARCH_BREADTH", "6", "deep_research_breadth", 6),
        ("DEEP_RESEARCH_CONCURRENCY", "3", "max_concurrent_research_units", 3),
    ],
)
def test_the_environment_sets_when_research_stops(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, knob: str, set_to: object
) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(environment.research_defaults(), knob) == set_to


@pytest.mark.requirement("A14")
@pytest.mark.subprocess
def test_the_environment_names_a_model_for_writing_and_one_for_judging(tmp_path: Path) -> None:
    code = (
        "from django.conf import settings;print(settings.RESEARCH_MODEL, settings.EVALUATOR_MODEL)"
    )
    done = python(tmp_path, "-c", code, RESEARCH_MODEL="large", EVALUATOR_MODEL="small")
    assert done.stdout.split() == ["large", "small"]


@pytest.mark.requirement("settings")
@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, ["theirs", "others"]),
        ({"RESEARCH_MODEL": "mine", "READER_MODEL": "reader:8b"}, ["mine", "reader:8b"]),
    ],
)
@pytest.mark.subprocess
def test_the_models_go_by_the_names_of_other_agents_too(
    tmp_path: Path, own: dict[str, str], expected: list[str]
) -> None:
    code = "from django.conf import settings;print(settings.RESEARCH_MODEL, settings.READER_MODEL)"
    theirs = {"ORCHESTRATOR_MODEL": "openai:theirs", "SUBAGENT_MODEL": "openai:others"}
    assert python(tmp_path, "-c", code, **theirs, **own).stdout.split() == expected


@pytest.mark.requirement("F16")
@pytest.mark.subprocess
def test_the_usual_ports_of_four_model_servers_are_looked_at(tmp_path: Path) -> None:
    code = "from django.conf import settings;print(*settings.LOCAL_MODEL_PORTS)"
    looked_at = python(tmp_path, "-c", code).stdout.split()
    assert [AT_PORT[int(port)] for port in looked_at] == [
        "Ollama", "vLLM", "llama.cpp", "LM Studio"
    ]  # fmt: skip


def test_providers_know_what_is_set_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [setting.name for setting in declared_settings()]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    monkeypatch.setenv("SEARCH_RATES", "brave=20, arxiv=0.5")
    assert environment.read_provider_settings() == ProviderSettings(
        {"BRAVE_API_KEY": "key"}, per_second={"brave": 20.0, "arxiv": 0.5}, at_once=4
    )
    monkeypatch.setenv("SEARCH_AT_ONCE", "2")
    assert environment.read_provider_settings().at_once == 2


def test_sqlite_takes_its_lock_at_the_start_of_a_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'other.sqlite3'}")
    settings = environment.read_database(tmp_path)
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
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEEPRESEARCH_ENV_FILE": os.devnull,
            "PLUMBLINE_HOME": str(home / "state"),
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(("given", "level"), [("", 2), ("full", 2), ("normal", 1)])
def test_sqlite_syncs_each_commit_unless_told_otherwise(
    given: str, level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("SQLITE_SYNCHRONOUS", given)
    database = environment.read_database(tmp_path)
    with closing(sqlite3.connect(database["NAME"])) as connection:
        connection.executescript(database["OPTIONS"]["init_command"])
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)


def test_another_word_for_how_sqlite_syncs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITE_SYNCHRONOUS", "off")
    with pytest.raises(ImproperlyConfigured, match="full or normal"):
        environment.read_database(tmp_path)
