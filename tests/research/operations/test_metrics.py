"""What is counted and timed of calls, and what the database adds."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.db.utils import OperationalError
from django.utils import timezone
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.models import Run
from research.operations.work_status import WorkCollector, read_work_status
from research.search.fallback import FallbackSearch, NamedSearch
from research.services import runs


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


class Broken:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def search(self, request: SearchRequest) -> SearchAnswer:
        raise self.error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (SearchFailedError("down"), "failed"),
        (ValueError("bug"), "error"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
async def test_searches_are_counted_by_provider_and_outcome(
    error: BaseException, outcome: str
) -> None:
    labels = {"provider": f"made {outcome}", "outcome": outcome}
    search = FallbackSearch([NamedSearch(labels["provider"], Broken(error))])
    with pytest.raises(BaseException):  # noqa: B017 - cancellation among them
        await search.search(SearchRequest("oak", 5))
    assert sample("plumbline_searches_total", **labels) == 1
    assert sample("plumbline_search_seconds_count", provider=labels["provider"]) == 1


def test_the_queue_is_what_a_worker_could_start_on(ada: AbstractUser) -> None:
    assert read_work_status().queue_depth == 0
    old, _, leased, waiting, done = (runs.ask_question(ada, f"Why {n}?") for n in range(5))
    now = timezone.now()
    Run.objects.filter(pk=old.pk).update(created_at=now - timedelta(seconds=90))
    Run.objects.filter(pk=leased.pk).update(lease_until=now + timedelta(seconds=60))
    Run.objects.filter(pk=waiting.pk).update(status="awaiting_approval")
    Run.objects.filter(pk=done.pk).update(status="completed")
    found = read_work_status()
    assert (found.queue_depth, found.leased) == (2, 1)
    assert found.queue_age_seconds == pytest.approx(90, abs=30)
    by_state = {state: number for state, number in found.by_state.items() if number}
    assert by_state == {"queued": 3, "awaiting_approval": 1, "completed": 1}


def collected() -> str:
    registry = CollectorRegistry()
    registry.register(WorkCollector())
    return generate_latest(registry).decode()


def test_the_database_is_read_when_metrics_are_collected(ada: AbstractUser) -> None:
    runs.ask_question(ada, "Why?")
    text = collected()
    assert "plumbline_database_up 1.0" in text and "plumbline_queue_depth 1.0" in text
    assert 'plumbline_runs{state="queued"} 1.0' in text
    assert 'plumbline_runs{state="stalled"} 0.0' in text


@pytest.mark.django_db
def test_without_the_database_only_that_is_reported() -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError("away")

    with connection.execute_wrapper(refuse):
        text = collected()
    assert "plumbline_database_up 0.0" in text and "plumbline_runs" not in text
