"""CONTRIBUTING's recipes: everything beside the named files is derived.

The recipe for a search provider is followed in `tests/research/search/test_new_provider.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser

from config import reference
from dashboard import exports
from dashboard.forms import knobs
from research.engine import config
from research.engine.config import ResearchConfig
from research.engine.knobs import define_knob
from tests.dashboard.conftest import make_run

TEXT_EXPORT = """
from dashboard.exports import Format
from dashboard.exports.contents import Contents

def render(contents: Contents) -> bytes:
    return contents.title.encode()

FORMAT = Format("Plain text", "txt", "text/plain; charset=utf-8", render, needs_report=False)
"""


class MoreKnobs(ResearchConfig):
    max_teapots: int = define_knob(3, "Teapots on the table.", unit="pots", ge=1, le=9)


def test_a_knob_is_declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "ResearchConfig", MoreKnobs)
    monkeypatch.setattr(knobs, "ResearchConfig", MoreKnobs)
    monkeypatch.setattr(config, "ResearchConfig", MoreKnobs)
    assert "# Teapots on the table. (pots)\n# MAX_TEAPOTS=3\n" in reference.env_example()
    row = "| `MAX_TEAPOTS` | `3` | ≥ 1 ≤ 9 | Teapots on the table. (pots) |"
    assert row in reference.settings_page()
    field = knobs.knob_fields(MoreKnobs())["max_teapots"]
    assert (field.label, field.initial) == ("Max teapots", "3")
    assert list(knobs.knob_groups())[-1] == (knobs.OTHERS, ["max_teapots"])
    assert MoreKnobs.from_strings({"MAX_TEAPOTS": "5"}).max_teapots == 5


@pytest.mark.django_db
def test_an_export_format_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, admin: AbstractUser
) -> None:
    (tmp_path / "teapot_text.py").write_text(TEXT_EXPORT)
    monkeypatch.setattr(exports, "__path__", [*exports.__path__, str(tmp_path)])
    formats = exports.Registry()
    assert list(formats)[-1] == "txt" and list(formats)[:2] == ["docx", "pdf"]
    run = make_run(admin, question="How hot is tea?")
    assert exports.export_report(run, formats["txt"]).content == b"How hot is tea?"
