"""What is new in a schedule's report since the one before."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time

from django.contrib.auth.models import AbstractUser

from research.models import Delivery, Evidence, EvidenceSource, Occurrence, Report, Run, Schedule
from research.notifications import subscriptions
from research.notifications.composing import compose_body
from research.notifications.outbox import announce_status
from research.schedules import manage
from research.schedules.manage import Plan
from research.schedules.news import news_of
from research.services import runs

BEGIN = datetime(2030, 3, 4, tzinfo=UTC)
OLD, NEW = "https://old.example/", "https://new.example/"


def make_schedule(owner: AbstractUser) -> Schedule:
    return manage.add_schedule(owner, Plan("Eggs?", "daily", time(8), "UTC"), lambda: BEGIN)


def result(
    schedule: Schedule, day: int, quotes: list[tuple[str, str]], **run: object
) -> Occurrence:
    """An occurrence whose report cites one record for each (quote, url), except "uncited" ones."""
    made = runs.ask_question(schedule.owner, "Eggs?")
    Run.objects.filter(pk=made.pk).update(**{"status": "completed", **run})
    cited = []
    for number, (quote, url) in enumerate(quotes, 1):
        record = Evidence.objects.create(
            run=made, label=f"E{number}", position=number, claim=f"Claim: {quote}", round=1,
            relevance=1,
        )  # fmt: skip
        EvidenceSource.objects.create(
            evidence=record, position=0, url=url, title="T", quote=quote, start=0, end=9,
            domain="d", independence_key="d", text_sha256="0", fetched_at=BEGIN,
        )  # fmt: skip
        if "uncited" not in quote:
            cited.append({"marker": number, "evidence_ids": [f"E{number}"], "url": url})
    Report.objects.create(run=made, number=1, citations=cited, evidence_digest="0")
    due = BEGIN.replace(day=day)
    made.refresh_from_db()
    return Occurrence.objects.create(schedule=schedule, due_at=due, run=made)


def test_a_first_result_is_compared_with_nothing(ada: AbstractUser) -> None:
    assert news_of(result(make_schedule(ada), 4, [("An egg.", OLD)])) is None


def test_only_quotes_that_the_last_report_did_not_cite_are_new(ada: AbstractUser) -> None:
    schedule = make_schedule(ada)
    first = result(schedule, 4, [("An egg is  oval.", OLD), ("An uncited egg.", OLD)])
    second = result(
        schedule,
        5,
        [
            ("an egg is oval.", NEW),
            ("An egg is oval. It breaks.", OLD),
            ("Hens lay eggs.", OLD),
            ("Ducks lay eggs.", NEW),
            ("An uncited egg.", OLD),
            ("Another uncited egg.", NEW),
        ],
    )
    news = news_of(second)
    assert news is not None and news.previous == first.run
    told = [(each.evidence, each.quote, each.is_new_page) for each in news.findings]
    assert told == [("E3", "Hens lay eggs.", False), ("E4", "Ducks lay eggs.", True)]


def test_a_failed_result_in_between_is_passed_over(ada: AbstractUser) -> None:
    schedule = make_schedule(ada)
    first = result(schedule, 4, [("An egg.", OLD)])
    result(schedule, 5, [("A hen.", OLD)], status="failed")
    news = news_of(result(schedule, 6, [("A hen.", OLD)]))
    assert news is not None and news.previous == first.run
    assert [each.quote for each in news.findings] == ["A hen."]


def test_results_of_other_schedules_do_not_count(ada: AbstractUser) -> None:
    result(make_schedule(ada), 4, [("An egg.", OLD)])
    assert news_of(result(make_schedule(ada), 5, [("An egg.", OLD)])) is None


def test_the_result_of_a_schedule_is_announced_with_what_is_new(ada: AbstractUser) -> None:
    schedule = make_schedule(ada)
    subscriptions.add_webhook(
        ada, "https://hooks.example.org/", ["run.finished", "schedule.result"]
    )
    first = result(schedule, 4, [("An egg.", OLD)])
    second = result(schedule, 5, [("A hen.", NEW)])
    assert second.run is not None and first.run is not None
    announce_status(second.run.pk, "completed")
    told = [json.loads(compose_body(row)) for row in Delivery.objects.order_by("pk")]
    assert [each["type"] for each in told] == ["run.finished", "schedule.result"]
    found = told[1]["data"]["schedule"]
    assert found["previous_run"] == first.run.public_id and found["new_count"] == 1
    assert found["new"][0]["quote"] == "A hen."
    assert found["url"].endswith(f"/schedules/{schedule.public_id}/")
