from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client

from research.engine.config import ResearchConfig
from research.models import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    PageText,
    Report,
    Round,
    Run,
    RunPage,
    Thread,
    Unit,
)
from research.models.base import key_digest
from research.services import people

PAGE = "# Oak\n\nHome\n\nAn oak lives for about 600 years. It is slow.\n\n<b>The end</b>"
QUOTE = "An oak lives for about 600 years."
URL = "https://trees.test/oak.html"


@pytest.fixture
def admin(db: None) -> User:
    return people.local_admin()


@pytest.fixture
def client(admin: User) -> Client:
    """Signed in as the local admin."""
    client = Client()
    client.force_login(admin)
    return client


def make_run(owner: User, status: str = "researching", **columns: object) -> Run:
    return Run.objects.create(
        owner=owner,
        thread=Thread.objects.create(owner=owner, title="How old do oaks get?"),
        **{
            "question": "How old do oaks get?",
            "today": date(2026, 11, 21),
            "config": ResearchConfig().model_dump(mode="json"),
            "status": status,
            **columns,
        },
    )


def make_later(parent: Run, **columns: object) -> Run:
    """A run of its thread that was made from another: a version of it, unless `origin` is given."""
    told = {"parent": parent, "origin": parent.origin or parent, **columns}
    later = make_run(parent.owner, "completed", **told)
    Run.objects.filter(pk=later.pk).update(thread=parent.thread)
    return Run.objects.get(pk=later.pk)


def add_evidence(run: Run, number: int, quote: str = QUOTE) -> Evidence:
    """One claim with its quote in `PAGE`, under a sub-question, a round and a gap of its own."""
    Aspect.objects.create(
        run=run,
        label=f"A{number}",
        position=number,
        text=f"Part {number}",
        round=1,
        state="answered",
    )
    Round.objects.create(run=run, number=number, stage="overview", score=5.5, decision="Going on.")
    Unit.objects.create(run=run, round=number, number=1, topic=f"topic {number}", status="done")
    Gap.objects.create(
        run=run, label=f"G{number}", position=number, text=f"Gap {number}", opened_round=1
    )
    evidence = Evidence.objects.create(
        run=run,
        label=f"E{number}",
        position=number,
        claim=f"Oaks grow old ({number}).",
        aspect_label=f"A{number}",
        round=1,
        relevance=0.8,
    )
    EvidenceSource.objects.create(
        evidence=evidence,
        position=0,
        url=URL,
        title="Oak",
        domain="trees.test",
        independence_key="trees.test",
        quote=quote,
        start=PAGE.index(QUOTE),
        end=PAGE.index(QUOTE) + len(QUOTE),
        text_sha256=hashlib.sha256(PAGE.encode()).hexdigest(),
        fetched_at=datetime(2026, 11, 21, tzinfo=UTC),
    )
    return evidence


def add_report(run: Run, markdown: str) -> Report:
    """A report whose [1] is the quote of `add_evidence(run, 1)`, with the page stored."""
    sha256 = hashlib.sha256(PAGE.encode()).hexdigest()
    text = PageText.objects.create(id=PageText.id_for("public", sha256), sha256=sha256, text=PAGE)
    RunPage.objects.create(run=run, page=text, url=URL, url_key=key_digest(URL))
    return Report.objects.create(
        run=run,
        number=1,
        markdown=markdown,
        citations=[{"marker": 1, "evidence_ids": ["E1"], "url": URL}],
        checks={"statements": 2, "cited": 2, "connections": 0, "repaired": 0, "cut": 0},
        evidence_digest="0",
    )
