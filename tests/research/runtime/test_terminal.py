"""A run in the foreground: what its terminal shows, and what that may not hold up."""

from __future__ import annotations

import asyncio
from io import StringIO

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rich.console import Console

from research.models import Run
from research.runtime.terminal import Foreground
from research.worker import notify
from research.worker.leases import claim_run
from tests.research.collections import apart

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def screen() -> StringIO:
    return StringIO()


@pytest.fixture
def foreground(ada: AbstractUser, run: Run, screen: StringIO) -> Foreground:
    lease = claim_run(run.pk, "the terminal")
    assert lease is not None
    foreground = Foreground(ada, run, lease, quiet=False)
    foreground.console = Console(file=screen, force_terminal=True, width=100)
    return foreground


def commit(run: Run, verdict: str) -> list[str]:
    """What was asked of the database until the commit's hooks had returned."""
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        Run.objects.filter(pk=run.pk).update(verdict=verdict)
        notify.after_commit(run.public_id, 2)
    return [query["sql"] for query in queries]


async def test_a_commit_does_not_wait_for_the_terminal(
    foreground: Foreground, run: Run, screen: StringIO
) -> None:
    async with foreground._show_progress():
        asked = await apart(commit, run, "Half of it is known.")
        assert not [sql for sql in asked if sql.startswith("SELECT")]
        async with asyncio.timeout(30):
            while "Half of it is known." not in screen.getvalue():
                await asyncio.sleep(0.02)


async def test_the_terminal_ends_on_the_last_commit(
    foreground: Foreground, run: Run, screen: StringIO
) -> None:
    async with foreground._show_progress():
        await apart(commit, run, "Half of it is known.")
        await apart(commit, run, "All of it is known.")
    assert "All of it is known." in screen.getvalue()
