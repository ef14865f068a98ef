"""A name in `.env` that is no setting is reported instead of being ignored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from research.runtime.settings_check import TAG, check_sqlite


def warnings_for(text: str, path: Path, settings: Any) -> list[str]:
    settings.ENV_FILE = path / ".env"
    settings.ENV_FILE.write_text(text)
    return [str(found.msg) for found in run_checks(tags=[TAG])]


@pytest.mark.parametrize(
    "line",
    ["PORT=8001", "export BRAVE_API_KEY=x", "MAX_SEARCHES = 3", "MAX_RESEARCHER_ITERATIONS=2",
     "ORCHESTRATOR_MODEL=large", "# KAGI_API_KEY=x", ""],
)  # fmt: skip
def test_a_setting_is_no_unknown_name(line: str, tmp_path: Path, settings: Any) -> None:
    assert warnings_for(f"{line}\n", tmp_path, settings) == []


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("BRAVE_KEY=x", "Did you mean BRAVE_API_KEY?"),
        ("export SEARCH_PROVIDERS=exa", "Did you mean SEARCH_PROVIDER?"),
        ("ZZZ=1", "which is not a setting."),
    ],
)
def test_an_unknown_name_is_reported(line: str, meant: str, tmp_path: Path, settings: Any) -> None:
    [found] = warnings_for(f"PORT=8001\n{line}\n", tmp_path, settings)
    assert found.endswith(meant)


@pytest.mark.parametrize(("version", "is_enough"), [((3, 34, 1), False), ((3, 35, 0), True)])
def test_sqlite_has_to_be_new_enough(
    version: tuple[int, ...], is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", version)
    monkeypatch.setattr("django.db.connection.vendor", "sqlite")
    assert [found.id for found in check_sqlite()] == ([] if is_enough else ["plumbline.E001"])
