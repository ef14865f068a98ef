"""The settings' documentation says what the settings are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config import reference
from research.search.providers import declared_settings

FOLDER = Path(reference.__file__).parent
SETTINGS = (FOLDER / "settings.py").read_text()
ENVIRONMENT = (FOLDER / "environment.py").read_text()
READ = re.compile(
    r"(?:environment\.\w+|\bread_string|\bread_url|\bread_rates|\bread_list)\(([^()]*)\)"
)


@pytest.mark.parametrize("path", reference.FILES, ids=lambda path: path.name)
def test_the_written_file_is_the_generated_one(path: Path) -> None:
    assert path.read_text() == reference.FILES[path](), "run: python -m config.reference"


DECLARED = {setting.name for setting in declared_settings()}
"""Settings of search providers, which are read by their declaration."""


@pytest.mark.parametrize("name", [name for name in reference.INSTALLATION if name not in DECLARED])
def test_every_installation_setting_is_read(name: str) -> None:
    assert f'"{name}"' in SETTINGS + ENVIRONMENT


@pytest.mark.requirement("settings")
def test_every_setting_that_is_read_is_documented() -> None:
    arguments = " ".join(READ.findall(SETTINGS + ENVIRONMENT))
    read = set(re.findall(r'"([A-Z][A-Z_]+)"', arguments)) - {"UTC"}
    assert {"DEBUG", "TIME_ZONE", "SECURE_COOKIES", "CSRF_TRUSTED_ORIGINS", "SECRET_KEY"} <= read
    written = " ".join([*reference.INSTALLATION, *reference.INSTALLATION.values()])
    assert {name for name in read if not re.search(rf"\b{name}\b", written)} == set()
