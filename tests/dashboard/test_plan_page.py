"""The plan's page: the depth of a crowded plan, and what the run should keep in mind."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from research.engine.threads.user_commands import INSTRUCTION_LENGTH
from research.models import Command, Run
from tests.dashboard.conftest import make_run
from tests.dashboard.test_run_page import page

RECENT = "Only sources since 2023"
ESTIMATE = {
    "seconds": [60, 180],
    "llm_calls": [9, 30],
    "tokens": [9_000, 90_000],
    "cost_usd": [0.1, 0.5],
    "words": [900, 1500],
    "sources": [8, 30],
}
DEEPER = {**ESTIMATE, "cost_usd": [0.4, 2.25], "words": [3000, 5400], "seconds": [240, 720]}
CROWDED = {"words": 110, "depth": "thorough", "words_there": [250, 450], "estimate": DEEPER}


@pytest.fixture
def run(admin: User) -> Run:
    aspects = [{"text": f"What of {n}?", "query": f"{n}"} for n in range(12)]
    plan = {"brief": "", "aspects": aspects, "estimate": ESTIMATE, "crowded": CROWDED}
    return make_run(
        admin,
        status="awaiting_approval",
        analyst="a-model",
        plan=plan,
        config={"research_depth": "standard"},
    )


def shown(client: Client, run: Run) -> BeautifulSoup:
    return BeautifulSoup(page(client, run), "lxml")


def send(client: Client, run: Run, action: str = "approve", **sent: Any) -> BeautifulSoup:
    lines = {"line-1": "What of 1?", "place-1": "1"}
    told = client.post(f"/runs/{run.public_id}/{action}/", lines | sent, follow=True)
    return BeautifulSoup(told.content, "lxml")


def said(run: Run) -> list[tuple[str, dict[str, Any]]]:
    return list(run.commands.order_by("pk").values_list("kind", "payload"))


def test_a_crowded_plan_says_so_and_offers_a_deeper_report(client: Client, run: Run) -> None:
    depth = shown(client, run).select_one(".plan-depth")
    assert depth is not None
    assert depth.select_one("p").get_text() == (  # type: ignore[union-attr]
        "12 sub-questions in a standard report: about 110 words for each. Fewer sub-questions get "
        "more words each, and so does a thorough report."
    )
    assert [label.get_text(strip=True) for label in depth.select("label")] == [
        "Standard: 900–1,500 words. $0.10–0.50, about 1–3 min.",
        "Thorough: 3,000–5,400 words, 250–450 for each sub-question. $0.40–2.25, about 4–12 min.",
    ]
    assert [tag["value"] for tag in depth.select("[checked]")] == ["standard"]
    assert shown(client, run).select(".estimate") == [], "each choice tells its own"


def test_a_plan_with_room_offers_no_other_depth(client: Client, run: Run) -> None:
    Run.objects.update(plan=run.plan | {"crowded": None})  # type: ignore[operator]
    soup = shown(client, run)
    assert soup.select(".plan-depth") == [] and len(soup.select(".estimate")) == 1
    send(client, run, depth="thorough")
    assert "depth" not in said(run)[0][1]


def test_the_chosen_depth_goes_with_the_approval(client: Client, run: Run) -> None:
    send(client, run, depth="thorough")
    [(kind, payload)] = said(run)
    assert (kind, payload["depth"]) == ("approve", "thorough")
    run.refresh_from_db()
    assert run.config["research_depth"] == "thorough"


def test_the_depth_that_the_run_has_changes_nothing(client: Client, run: Run) -> None:
    send(client, run, depth="standard")
    [(_, payload)] = said(run)
    assert "depth" not in payload


@pytest.mark.parametrize("action", ["approve", "send-back"])
def test_what_to_keep_in_mind_goes_along(client: Client, run: Run, action: str) -> None:
    field = shown(client, run).select_one("[name=instruction]")
    assert field is not None and shown(client, run).select(".steer .instruct") == []
    soup = send(client, run, action, instruction=RECENT, comment="Fewer", depth="thorough")
    (first, instruction), (second, payload) = said(run)
    assert (first, instruction) == ("instruct", {"text": RECENT})
    assert second == ("approve" if action == "approve" else "revise")
    assert payload["depth"] == "thorough"
    heard = soup.select_one(".heard")
    assert heard is not None and heard.get_text() == f"Follows “{RECENT}” from the start."


def test_a_plan_that_was_made_without_an_instruction_can_be_sent_back_with_it(
    client: Client, run: Run, admin: User
) -> None:
    payload = {"text": RECENT}
    Command.objects.create(run=run, actor=admin, kind="instruct", payload=payload)
    soup = shown(client, run)
    [heard] = soup.select(".heard li")
    told = "The plan was made without it; send it back to have it planned again."
    assert heard.get_text() == f"Kept: “{RECENT}”. {told}"
    [comment] = soup.select("[name=comment]")
    assert comment.get_text().strip() == RECENT
    Command.objects.update(taken_at_place="approval/1")
    assert [each.get_text().strip() for each in shown(client, run).select("[name=comment]")] == [""]


@pytest.mark.parametrize("action", ["approve", "send-back"])
def test_one_that_is_too_long_is_told_beside_the_field(
    client: Client, run: Run, action: str
) -> None:
    soup = send(client, run, action, instruction="x" * (INSTRUCTION_LENGTH + 1), comment="Fewer")
    problem = soup.select_one("#instruction-problem")
    assert problem is not None and "301 characters; the maximum is 300" in problem.get_text()
    assert not Command.objects.exists()


def test_a_refused_approval_stores_no_instruction(client: Client, run: Run) -> None:
    send(client, run)
    send(client, run, instruction=RECENT)
    assert [kind for kind, _ in said(run)] == ["approve"]


@pytest.mark.parametrize("changes", [{"analyst": "extractive"}, {"mode": "fixed"}])
def test_a_run_that_can_follow_none_asks_for_none(
    client: Client, run: Run, changes: dict[str, str]
) -> None:
    Run.objects.update(**changes)
    assert shown(client, run).select("[name=instruction]") == []


def test_a_new_plan_shows_what_it_keeps_in_mind(client: Client, run: Run, admin: User) -> None:
    Run.objects.update(plan=run.plan | {"instructions": [RECENT]})  # type: ignore[operator]
    told = {"actor": admin, "payload": {"text": RECENT}, "taken_at_place": "person/approval/1"}
    Command.objects.create(run=run, kind="instruct", **told)
    assert f"You added“{RECENT}”" in [d.get_text() for d in shown(client, run).select(".facts div")]
