"""The page for operators names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest

import research.operations.metrics  # noqa: F401 - declares them
from research.operations.work_status import WorkCollector

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operations.md"
NAME = re.compile(r"# TYPE (plumbline_\w+) (\w+)")


@pytest.mark.django_db
def test_every_metric_is_documented_and_every_documented_one_exists() -> None:
    registry = CollectorRegistry()
    registry.register(WorkCollector())
    text = (generate_latest(REGISTRY) + generate_latest(registry)).decode()
    there = {name for name, _ in NAME.findall(text) if not name.endswith("_created")}
    assert set(re.findall(r"plumbline_[a-z_]+", PAGE.read_text())) == there
