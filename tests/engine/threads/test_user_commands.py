"""What people tell a run while it researches: obeyed at a round's end, journaled, replayed."""

from typing import Any

import pytest

from research.engine.evidence.ledger import ANSWERING
from research.engine.journal import ParkedError
from research.engine.records import Aspect, Gap, Problem, Report, Stage, Status, StopReason
from tests.engine.rounds.test_verification import KNOBS, QUESTION, tower
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    Commands,
    Oracle,
    Part,
    Ran,
    Script,
    World,
    harbour,
)

pytestmark = pytest.mark.virtual_time

OWNER = "Who owned the Calder foundry in Leith?"
KNOWS_MORE = Script(
    SIMPLE.question, (*SIMPLE.parts, Part(OWNER, "Calder foundry", ("Ruth Ansel",)))
)


def knowing_more() -> World:
    """A simple question; the model would also know an answer on what a person adds."""
    world = harbour(KNOWS_MORE)
    assert world.model is not None
    plan = Oracle(SIMPLE)
    world.model.twists["intake"] = lambda _: plan._intake({"QUESTION": SIMPLE.question})
    return world


async def check_replay(world: World, question: str, ran: Ran, **knobs: Any) -> None:
    replayed = await world.replay(question, **knobs)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])


# --- pause ----------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
async def test_a_paused_run_is_parked_and_goes_on_where_it_was() -> None:
    world, plain = harbour(CHAIN), await harbour(CHAIN).ask(CHAIN.question)
    assert world.model is not None
    first = await world.ask(CHAIN.question, inbox=Commands({"kind": "pause"}))
    assert isinstance(first.ended, ParkedError)
    assert first.state.status is Status.PAUSED and len(first.rounds) == 1
    asked = len(world.model.requests)

    still = await world.ask(CHAIN.question, inbox=Commands({"kind": "add_topic", "topic": "X"}))
    assert isinstance(still.ended, ParkedError) and len(world.model.requests) == asked

    second = await world.ask(CHAIN.question, inbox=Commands({"kind": "resume"}))
    assert second.ended is None and second.state.status is Status.COMPLETED
    assert second.report == plain.report
    assert len(world.model.requests) == plain.usage.llm_calls
    await check_replay(world, CHAIN.question, second)


@pytest.mark.parametrize(
    "kind, reason, reports",
    [("stop", StopReason.USER_STOPPED, 1), ("cancel", StopReason.CANCELLED, 0)],
)
async def test_a_paused_run_is_woken_by_stop_and_by_cancel(
    kind: str, reason: StopReason, reports: int
) -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, inbox=Commands({"kind": "pause"}))
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": kind}))
    assert ran.state.termination_reason is reason
    assert len([r for r in ran.records if type(r).__name__ == "Report"]) == reports
    await check_replay(world, CHAIN.question, ran)


async def test_stop_wins_over_a_pause_of_the_same_round() -> None:
    inbox = Commands({"kind": "pause"}, {"kind": "stop"})
    ran = await harbour(CHAIN).ask(CHAIN.question, inbox=inbox)
    assert ran.ended is None and ran.state.termination_reason is StopReason.USER_STOPPED


async def test_what_is_told_during_a_pause_is_taken_when_it_ends() -> None:
    world = knowing_more()
    await world.ask(SIMPLE.question, inbox=Commands({"kind": "pause"}))
    inbox = Commands({"kind": "resume"}, {"kind": "add_topic", "topic": OWNER})
    ran = await world.ask(SIMPLE.question, inbox=inbox)
    assert [aspect.text for aspect in ran.of(Aspect)] == [SIMPLE.question, OWNER]
    await check_replay(world, SIMPLE.question, ran)


async def test_paused_again_at_once_it_waits_again() -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, inbox=Commands({"kind": "pause"}))
    inbox = Commands({"kind": "resume"}, {"kind": "pause"})
    again = await world.ask(CHAIN.question, inbox=inbox)
    assert isinstance(again.ended, ParkedError) and again.state.status is Status.PAUSED
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "resume"}))
    assert ran.state.status is Status.COMPLETED
    await check_replay(world, CHAIN.question, ran)


# --- topics ---------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
async def test_an_added_topic_is_researched_in_the_next_round_and_answered() -> None:
    world = knowing_more()
    add = {"kind": "add_topic", "topic": f"  {OWNER} "}
    ran = await world.ask(SIMPLE.question, inbox=Commands(add))
    added = ran.of(Aspect)[1]
    assert (added.text, added.raised_by, added.round) == (OWNER, "user", 1)
    assert ran.rounds[1].topics[0] == OWNER
    assert added.state in ANSWERING
    assert OWNER in ran.report.markdown
    [gap] = [gap for gap in ran.of(Gap) if gap.aspect_id == added.id]
    assert gap.closed_round == 2 and gap.closed_by == added.evidence_ids
    await check_replay(world, SIMPLE.question, ran)


async def test_a_person_s_topic_comes_before_the_engine_s_own() -> None:
    add = {"kind": "add_topic", "topic": "How high is the cliff of Harrow Point?"}
    ran = await harbour(CHAIN).ask(
        CHAIN.question, inbox=Commands(add), topics_per_round=(1, 1, 1), unit_tool_calls=(9, 9, 9)
    )
    assert ran.rounds[1].topics == (add["topic"],)


async def test_a_topic_is_added_even_where_the_rounds_are_used_up() -> None:
    world = knowing_more()
    add = {"kind": "add_topic", "topic": OWNER}
    ran = await world.ask(SIMPLE.question, inbox=Commands(add), adaptive_max_depth=1)
    assert len(ran.rounds) == 2 and OWNER in ran.rounds[1].topics


@pytest.mark.requirement("E8")
async def test_a_topic_that_is_there_already_is_refused_aloud() -> None:
    world = harbour(SIMPLE)
    add = {"kind": "add_topic", "topic": "when was Harrow Point lighthouse first lit"}
    ran = await world.ask(SIMPLE.question, inbox=Commands(add))
    assert len(ran.rounds) == 1 and len(ran.of(Aspect)) == 1
    [skip] = ran.rounds[0].skipped
    assert (skip.topic, skip.twin) == (add["topic"], SIMPLE.question)
    assert skip.similarity >= 0.75
    assert [p.message for p in ran.of(Problem)] == [
        f"Not added: it is nearly the same as “{SIMPLE.question}”."
    ]
    await check_replay(world, SIMPLE.question, ran)


@pytest.mark.requirement("F6")
async def test_a_dropped_topic_is_left_out_and_the_report_says_so() -> None:
    world, dropped = harbour(CHAIN), CHAIN.parts[2].question
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "drop_topic", "topic": dropped}))
    aspect = next(aspect for aspect in ran.of(Aspect) if aspect.text == dropped)
    assert aspect.dropped
    assert not any(dropped in r.topics for r in ran.rounds[1:])
    assert all(gap.closed_by == ("user",) for gap in ran.of(Gap) if gap.aspect_id == aspect.id)
    assert f"## Left out at your request\n\n- {dropped}\n" in ran.report.markdown
    assert f"## {dropped}" not in ran.report.markdown
    assert "2 of 2 answered" in ran.report.markdown
    await check_replay(world, CHAIN.question, ran)


async def test_a_model_that_names_a_dropped_topic_again_does_not_bring_it_back() -> None:
    world, dropped = harbour(CHAIN), CHAIN.parts[2].question
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {
        **answer, "ready": False,
        "gaps": [*answer["gaps"], {"text": dropped, "sub_question": "A3", "query": "owner",
                                   "critical": True}],
    }  # fmt: skip
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "drop_topic", "topic": dropped}))
    assert [aspect.text for aspect in ran.of(Aspect)].count(dropped) == 1
    assert not any(dropped in r.topics for r in ran.rounds[1:])


async def test_a_dropped_topic_that_is_added_again_is_taken_up() -> None:
    world, topic = harbour(CHAIN), CHAIN.parts[2].question
    drop, add = {"kind": "drop_topic", "topic": topic}, {"kind": "add_topic", "topic": topic}
    ran = await world.ask(CHAIN.question, inbox=Commands(drop, add))
    assert [aspect.dropped for aspect in ran.of(Aspect)] == [False] * 3
    assert ran.of(Aspect)[2].state == "answered"
    await check_replay(world, CHAIN.question, ran)


@pytest.mark.parametrize(
    "script, topic, message",
    [
        (CHAIN, "Sails", "Not dropped: no sub-question is called that."),
        (SIMPLE, SIMPLE.question, "Not dropped: it is the only one. Stop the run instead."),
    ],
)
async def test_what_cannot_be_dropped_is_said(script: Script, topic: str, message: str) -> None:
    inbox = Commands({"kind": "drop_topic", "topic": topic})
    ran = await harbour(script).ask(script.question, inbox=inbox)
    assert message in {problem.message for problem in ran.of(Problem)}
    assert not any(aspect.dropped for aspect in ran.of(Aspect))


# --- deeper ---------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
async def test_digging_deeper_goes_on_after_the_question_is_answered() -> None:
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=Commands({"kind": "dig_deeper", "rounds": 1}))
    assert len(ran.rounds) == 2
    assert ran.state.status is Status.COMPLETED
    await check_replay(world, SIMPLE.question, ran)


async def test_digging_deeper_raises_the_round_limit() -> None:
    world = harbour(CHAIN)
    inbox = Commands({"kind": "dig_deeper", "rounds": 2})
    ran = await world.ask(CHAIN.question, inbox=inbox, adaptive_max_depth=1)
    assert len(ran.rounds) == 3
    assert ran.state.termination_reason is not None


async def test_digging_deeper_without_a_number_is_two_rounds() -> None:
    inbox = Commands({"kind": "dig_deeper"})
    ran = await harbour(CHAIN).ask(CHAIN.question, inbox=inbox, adaptive_max_depth=1)
    assert len(ran.rounds) == 3


async def test_no_more_than_twenty_topics_are_worked_on() -> None:
    added = [{"kind": "add_topic", "topic": f"What is ship{n} keel{n} for?"} for n in range(25)]
    ran = await harbour(SIMPLE).ask(SIMPLE.question, inbox=Commands(*added), max_searches=1)
    assert len(ran.of(Aspect)) == 20
    refused = [p.message for p in ran.of(Problem) if "Not added" in p.message]
    assert refused == ["Not added: there are 20 already."] * 6


async def test_a_budget_still_ends_a_run_that_is_to_dig_deeper() -> None:
    inbox = Commands({"kind": "dig_deeper", "rounds": 9})
    ran = await harbour(CHAIN).ask(CHAIN.question, inbox=inbox, max_searches=3)
    assert ran.state.termination_reason is StopReason.BUDGET_SEARCHES


async def test_a_tree_of_a_fixed_size_takes_only_pause_and_stop() -> None:
    inbox = Commands({"kind": "add_topic", "topic": OWNER}, {"kind": "pause"})
    world = harbour()
    knobs = {"deep_research_mode": "fixed", "deep_research_breadth": 2}
    first = await world.ask(SIMPLE.question, inbox=inbox, **knobs)
    assert isinstance(first.ended, ParkedError)
    assert [each["kind"] for each in inbox.waiting] == ["add_topic"]
    ran = await world.ask(SIMPLE.question, inbox=Commands({"kind": "resume"}), **knobs)
    assert ran.state.termination_reason is StopReason.TREE_COMPLETE
    await check_replay(world, SIMPLE.question, ran, **knobs)


# --- while claims are verified --------------------------------------------------------------


class Later(Commands):
    """Says nothing at the first round's end: what it holds comes while claims are verified."""

    is_first = True

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        is_round = "stop" in kinds
        taken = [] if self.is_first else await super().take(kinds)
        self.is_first = self.is_first and not is_round
        return taken


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    "told", [{"kind": "add_topic", "topic": OWNER}, {"kind": "dig_deeper", "rounds": 1}]
)
async def test_what_is_asked_for_during_verification_leads_to_another_round(
    told: dict[str, Any],
) -> None:
    world = tower()
    assert world.model is not None
    plain = await tower().ask(QUESTION.question, **KNOBS)
    ran = await world.ask(QUESTION.question, inbox=Later(told), **KNOBS)
    assert len(ran.rounds) == len(plain.rounds) + 1
    assert ran.state.status is Status.COMPLETED
    assert ran.rounds[1].decision.startswith("Looked for other sources on 1 claim: 1 confirmed.")
    stages = [each.stage for each in ran.rounds[1:]]
    assert stages == [Stage.VERIFICATION, Stage.DEEP_RESEARCH]
    if told["kind"] == "add_topic":
        assert ran.rounds[2].topics[0] == OWNER
        assert OWNER in {aspect.text for aspect in ran.of(Aspect)}
    await check_replay(world, QUESTION.question, ran, **KNOBS)


@pytest.mark.requirement("F6")
async def test_a_pause_during_verification_parks_the_run() -> None:
    world = tower()
    plain = await tower().ask(QUESTION.question, **KNOBS)
    ran = await world.ask(QUESTION.question, inbox=Later({"kind": "pause"}), **KNOBS)
    assert isinstance(ran.ended, ParkedError) and ran.state.status is Status.PAUSED
    ran = await world.ask(QUESTION.question, inbox=Commands({"kind": "resume"}), **KNOBS)
    assert ran.ended is None and ran.report == plain.report
    await check_replay(world, QUESTION.question, ran, **KNOBS)


@pytest.mark.requirement("F6")
async def test_a_cancel_during_verification_writes_no_report() -> None:
    ran = await tower().ask(QUESTION.question, inbox=Later({"kind": "cancel"}), **KNOBS)
    assert ran.state.termination_reason is StopReason.CANCELLED
    assert not ran.of(Report)


# --- "dig deeper, or is this sufficient?" ---------------------------------------------------

UNSURE: dict[str, Any] = {"agreed": False, "ask_when_unsure": True, "adaptive_max_depth": 1}
APPROVED = {"kind": "approve"}


async def unsure() -> World:
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question, inbox=Commands(APPROVED), **UNSURE)
    assert isinstance(ran.ended, ParkedError)
    assert ran.state.status is Status.PAUSED
    assert ran.state.asks == (
        "After 1 round, the most for a question like this. 1 of 3 answered. "
        "2 questions stay open. Dig deeper, or is this sufficient?"
    )
    return world


@pytest.mark.requirement("C15")
async def test_an_unsure_engine_asks_and_digs_deeper_when_told() -> None:
    world = await unsure()
    inbox = Commands({"kind": "dig_deeper", "rounds": 2})
    ran = await world.ask(CHAIN.question, inbox=inbox, **UNSURE)
    while isinstance(ran.ended, ParkedError):
        ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "stop"}), **UNSURE)
    assert len(ran.rounds) == 3 and ran.state.asks == ""
    await check_replay(world, CHAIN.question, ran, **UNSURE)


@pytest.mark.requirement("C15")
async def test_a_topic_told_while_it_asks_comes_in_the_very_next_round() -> None:
    world = await unsure()
    inbox = Commands({"kind": "add_topic", "topic": OWNER}, {"kind": "resume"})
    ran = await world.ask(CHAIN.question, inbox=inbox, **UNSURE)
    assert ran.rounds[1].topics[0] == OWNER


@pytest.mark.requirement("C15")
async def test_what_is_sufficient_ends_for_the_engine_s_own_reason() -> None:
    world = await unsure()
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "stop"}), **UNSURE)
    assert ran.state.termination_reason is StopReason.MAX_ROUNDS
    assert len(ran.rounds) == 1 and ran.report.markdown
    await check_replay(world, CHAIN.question, ran, **UNSURE)


@pytest.mark.requirement("C15")
async def test_nobody_is_asked_unless_it_is_switched_on() -> None:
    knobs = {**UNSURE, "ask_when_unsure": False}
    ran = await harbour(CHAIN).ask(CHAIN.question, inbox=Commands(APPROVED), **knobs)
    assert ran.ended is None and ran.state.status is Status.COMPLETED
