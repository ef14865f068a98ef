"""The settings' documentation is derived from their declarations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config import environment, reference

FOLDER = Path(reference.__file__).parent
SETTINGS = (FOLDER / "settings.py").read_text()
READER = re.compile(r"environment\.(?:read_\w+|one_of|optional_number)\(\s*\"([A-Z_]+)\"")


@pytest.mark.parametrize("path", reference.FILES, ids=lambda path: path.name)
def test_the_written_file_is_the_generated_one(path: Path) -> None:
    assert path.read_text() == reference.FILES[path](), "run: python -m config.reference"


@pytest.mark.requirement("settings")
@pytest.mark.parametrize("name", reference.installation_settings())
def test_every_declared_setting_has_a_sentence(name: str) -> None:
    assert reference.installation_settings()[name].help.endswith(".")


def test_every_setting_that_is_read_is_declared() -> None:
    read = set(READER.findall(SETTINGS))
    assert len(read) > 40 and read <= environment.DECLARED.keys()
    assert {"SECRET_KEY", "DATABASE_URL", "PLUMBLINE_HOME"} <= environment.DECLARED.keys()


def test_a_default_is_documented_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "DECLARED", {})
    monkeypatch.delenv("TEAPOTS", raising=False)
    assert environment.read_count("TEAPOTS", 7, help="Teapots in the kitchen.") == 7
    monkeypatch.setattr(reference.settings, "DECLARED_SETTINGS", environment.DECLARED)
    assert "# Teapots in the kitchen.\n# TEAPOTS=7\n" in reference.env_example()
    assert "| `TEAPOTS` | `7` | Teapots in the kitchen. |" in reference.settings_page()
