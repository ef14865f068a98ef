"""The settings' documentation says what the settings are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard import reference

SETTINGS = (Path(reference.__file__).parent / "settings.py").read_text()


@pytest.mark.parametrize("path", reference.FILES, ids=lambda path: path.name)
def test_the_written_file_is_the_generated_one(path: Path) -> None:
    assert path.read_text() == reference.FILES[path](), "run: python -m dashboard.reference"


@pytest.mark.parametrize("name", reference.INSTALLATION)
def test_every_installation_setting_is_read(name: str) -> None:
    environment = (Path(reference.__file__).parent / "environment.py").read_text()
    assert f'"{name}"' in SETTINGS + environment
