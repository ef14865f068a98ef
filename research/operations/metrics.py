"""Prometheus metrics of one process; `work_status` adds those read from the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
WRITE_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 20)

MODEL_CALLS = Counter(
    "plumbline_model_calls", "Attempts of model calls.", ["server", "model", "outcome"]
)
MODEL_TOKENS = Counter("plumbline_model_tokens", "Tokens of model calls.", ["model", "direction"])
MODEL_SECONDS = Histogram(
    "plumbline_model_seconds", "Duration of model calls.", ["server", "model"], buckets=SECONDS
)
SEARCHES = Counter("plumbline_searches", "Searches by provider.", ["provider", "outcome"])
SEARCH_SECONDS = Histogram(
    "plumbline_search_seconds", "Duration of searches.", ["provider"], buckets=SECONDS
)
FETCHES = Counter("plumbline_fetches", "Web pages fetched.", ["outcome"])
FETCH_SECONDS = Histogram(
    "plumbline_fetch_seconds", "Duration of fetches, extraction included.", buckets=SECONDS
)
SOCKETS = Gauge("plumbline_sockets", "Open WebSockets of run pages.")
TEXT_TASKS = Gauge("plumbline_text_pool_tasks", "Text extractions queued or in progress.")
JOURNAL_SECONDS = Histogram(
    "plumbline_journal_write_seconds",
    "Time until a journal write is durable (journal lag).",
    buckets=WRITE_SECONDS,
)
JOURNAL_WAITING = Gauge("plumbline_journal_waiting", "Journal writes that are not durable yet.")


@contextmanager
def measure_call(
    calls: Counter, seconds: Histogram, failure: type[Exception], *labels: str
) -> Iterator[None]:
    """Count and time a call. Its outcome is ok, failed (raised `failure`), error or cancelled."""
    outcome, began = "ok", time.monotonic()
    try:
        yield
    except failure:
        outcome = "failed"
        raise
    except Exception:
        outcome = "error"
        raise
    except BaseException:
        outcome = "cancelled"
        raise
    finally:
        timing = seconds.labels(*labels) if labels else seconds
        timing.observe(time.monotonic() - began)
        calls.labels(*labels, outcome).inc()


def count_tokens(model: str, prompt: int, completion: int) -> None:
    MODEL_TOKENS.labels(model, "prompt").inc(prompt)
    MODEL_TOKENS.labels(model, "completion").inc(completion)
