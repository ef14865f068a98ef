"""A claim's statements are planned once for each connection, wherever a session is ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import DatabaseError, connection, connections, transaction

from research.queue.admission import claim_next
from research.services import runs
from research.worker import notify

PLANS = """
SELECT count(*), min(generic_plans), sum(custom_plans) FROM pg_prepared_statements
WHERE name LIKE '\\_pg3\\_%'
"""

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite prepares by itself"),
]


@pytest.fixture(autouse=True)
def new_session(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(notify, "_heard_at", None)
    connections.close_all()
    yield
    connections.close_all()


def plans() -> tuple[int, int | None, int | None]:
    """Return the prepared statements, the fewest generic plans of one, and all custom plans."""
    with connection.cursor() as cursor:
        cursor.execute(PLANS)
        found: tuple[int, int | None, int | None] = cursor.fetchone()
        return found


def claim(person: AbstractUser, number: int) -> list[str]:
    for each in range(number):
        runs.ask_question(person, f"Question {each}", agreed=True)
    return [lease.owner for _ in range(number + 1) if (lease := claim_next("me"))]


def test_statements_are_planned_once_while_other_processes_are_heard(ada: AbstractUser) -> None:
    notify.hear(notify.BEAT)
    assert claim(ada, 3) == ["me"] * 3
    prepared, least, anew = plans()
    assert (prepared, anew) == (3, 0)
    assert least
    assert least >= 3


def test_they_are_prepared_again_after_a_failed_transaction_and_a_new_connection(
    ada: AbstractUser,
) -> None:
    notify.hear(notify.BEAT)
    claim(ada, 1)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")
    assert claim(ada, 1) == ["me"]
    connections.close_all()
    assert claim(ada, 1) == ["me"]
    assert plans()[0] == 3


def test_nothing_is_prepared_behind_a_pooler_that_passes_no_notifications_on(
    ada: AbstractUser,
) -> None:
    assert claim(ada, 1) == ["me"]
    assert plans()[0] == 0
