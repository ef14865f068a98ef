"""Values that are never valid: 422 with the field, whichever layer refuses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from research.models import Run, Schedule
from research.services.errors import InvalidValueError

SCHEDULE = {"question": "What is new?", "cadence": "daily", "at": "08:00"}
INFINITE = float("1e999")


@pytest.mark.parametrize(
    ("path", "body", "location"),
    [
        ("runs", {"question": "a\x00b?"}, "body.question"),
        ("runs", {"question": "\x1f"}, "body.question"),
        ("runs", {"question": "Why?", "settings": {"rounds": "x"}}, "body.settings.rounds"),
        ("runs", {"question": "Why?", "settings": {"x": ["\x00"]}}, "body.settings"),
        ("runs/RUN/commands", {"kind": "nothing"}, "body.kind"),
        ("runs/RUN/commands", {}, "body.kind"),
        ("runs/RUN/commands", {"kind": "dig_deeper", "rounds": 99}, "body.rounds"),
        ("runs/RUN/commands", {"kind": "add_topic", "topic": "\x1f"}, "body.topic"),
        ("runs/RUN/commands", {"kind": "instruct", "text": " "}, "body.text"),
        ("runs/RUN/commands", {"kind": "instruct", "text": "x" * 301}, "body.text"),
        ("runs/RUN/commands", {"kind": "revise", "comment": "\x1f"}, "body.comment"),
        ("runs/RUN/versions", {"kind": "reshape", "form": "reader"}, "body.reader"),
        ("runs/RUN/versions", {"kind": "deeper", "sub_questions": ["A99"]}, "body.sub_questions"),
        (
            "runs/RUN/versions",
            {"kind": "deeper", "sub_questions": ["A1"], "max_cost_usd": INFINITE},
            "body.max_cost_usd",
        ),
        ("runs/RUN/follow-ups", {"question": "\x1f"}, "body.question"),
        ("runs/RUN/evidence/E1/verdicts", {"verdict": "maybe"}, "body.verdict"),
        ("collections", {"name": "\u200b"}, "body.name"),
        ("webhooks", {"url": "http://127.0.0.1/"}, "body.url"),
        ("webhooks", {"url": "https://hooks.example.org/", "events": []}, "body.events"),
        ("schedules", {**SCHEDULE, "time_zone": "Nowhere"}, "body.time_zone"),
        ("schedules", {**SCHEDULE, "time_zone": "localtime"}, "body.time_zone"),
        ("schedules", {**SCHEDULE, "max_cost_usd": INFINITE}, "body.max_cost_usd"),
        ("schedules", {**SCHEDULE, "question": "\x1f"}, "body.question"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_named(
    api: Client, finished: Run, path: str, body: dict[str, Any], location: str
) -> None:
    where = f"/api/v1/{path.replace('RUN', finished.public_id)}"
    refused = api.post(where, json.dumps(body), content_type="application/json")
    assert refused.status_code == 422, refused.content
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert [each["location"] for each in refused.json()["errors"]] == [location]
    assert Run.objects.count() == 1 and not Schedule.objects.exists()


def test_an_empty_idempotency_key_is_none(api: Client) -> None:
    body = json.dumps({"name": "Trees"})
    refused = api.post(
        "/api/v1/collections",
        body,
        content_type="application/json",
        headers={"Idempotency-Key": ""},
    )
    assert refused.status_code == 422


def test_every_invalid_value_has_a_name() -> None:
    with pytest.raises(TypeError):
        InvalidValueError("Wrong.")  # type: ignore[call-arg]


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
def test_openai_s_clients_are_told_of_text_that_no_database_keeps(api: Client, path: str) -> None:
    said = [{"role": "user", "content": "a\x00b?"}]
    body = {"model": "plumbline-quick", "messages": said, "input": said}
    refused = api.post(f"/v1/{path}", json.dumps(body), content_type="application/json")
    assert refused.status_code == 400 and "NUL" in refused.json()["error"]["message"]
    assert not Run.objects.exists()
