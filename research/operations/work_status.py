"""State of the queue and of the runs, for the metrics and the staff page "Work"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import Error as DatabaseError
from django.db.models import Count, Min
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from research.engine.records import Status
from research.models import Run
from research.worker.leases import claimable_runs, database_now


@dataclass(frozen=True)
class WorkStatus:
    """Counts of runs; `queue_depth` are those that a worker could start on now."""

    by_state: dict[str, int]
    queue_depth: int
    oldest_queued_at: datetime | None
    leased: int
    now: datetime

    @property
    def queue_age_seconds(self) -> float:
        """Return how long the oldest run in the queue has waited; 0 if it is empty."""
        if self.oldest_queued_at is None:
            return 0.0
        return max(0.0, (self.now - self.oldest_queued_at).total_seconds())


def read_work_status() -> WorkStatus:
    """Return the present state, with three queries and the database's clock."""
    now = database_now()
    counted = Run.objects.order_by().values_list("status").annotate(number=Count("pk"))
    queue = claimable_runs(now).aggregate(depth=Count("pk"), oldest=Min("created_at"))
    return WorkStatus(
        by_state={status.value: 0 for status in Status} | dict(counted),
        queue_depth=queue["depth"],
        oldest_queued_at=queue["oldest"],
        leased=Run.objects.filter(lease_until__gte=now).count(),
        now=now,
    )


class WorkCollector(Collector):
    """Collects the state of the work from the database at each scrape.

    Without the database only `plumbline_database_up` 0 is reported.
    """

    def collect(self) -> Iterator[Metric]:
        try:
            status = read_work_status()
        except DatabaseError:
            yield _gauge("database_up", "Whether the database answers.", 0)
            return
        yield _gauge("database_up", "Whether the database answers.", 1)
        yield _gauge("queue_depth", "Runs that no worker has started on.", status.queue_depth)
        yield _gauge("queue_age_seconds", "Age of the oldest queued run.", status.queue_age_seconds)
        yield _gauge("runs_leased", "Runs that a worker is executing.", status.leased)
        runs = GaugeMetricFamily("plumbline_runs", "Runs by state.", labels=["state"])
        for state, number in status.by_state.items():
            runs.add_metric([state], number)
        yield runs

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering the collector needs no database."""
        return []


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"plumbline_{name}", text, value=value)
