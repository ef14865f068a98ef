"""The published schema of a run as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from research.models import Run
from research.readmodel.run_json import run_resource

SCHEMA = json.loads((Path(__file__).parents[1] / "run.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def validate_run(run: Any) -> None:
    """Raise `ValidationError` unless a run's JSON follows the schema."""
    VALIDATOR.validate(run)


def resource(run: Run) -> dict[str, Any]:
    """Return a run's JSON, which follows the schema."""
    found = run_resource(run, with_pages=True)
    validate_run(found)
    return found
