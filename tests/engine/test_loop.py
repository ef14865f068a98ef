import asyncio
import random
from typing import Any

import pytest

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, JournalEndsError, ParkedError
from research.engine.loop import Question, run_research
from research.engine.offline.passages import shown_passages
from research.engine.ports import (
    ModelAnswer,
    ModelFailedError,
    ModelRequest,
    SearchAnswer,
    SearchRequest,
)
from research.engine.records import (
    ENDED,
    Aspect,
    Dimensions,
    Gap,
    GateResult,
    Plan,
    Problem,
    Report,
    Round,
    Source,
    Stage,
    Status,
    StopReason,
    Unit,
)
from research.engine.report.messages import bar_percent, format_percent
from tests.engine.report.test_report import check_markers
from tests.engine.scripted import (
    CHAIN,
    LIT,
    SIMPLE,
    Clock,
    Commands,
    Oracle,
    Part,
    Ran,
    Script,
    Web,
    World,
    harbour,
    harbour_pages,
    page,
    sections_of,
)
from tests.engine.threads.test_follow_up import known
from tests.support.virtual_time import LoopClock

pytestmark = pytest.mark.virtual_time

ENOUGH = {"min_evidence_records": 3}


# --- the path -------------------------------------------------------------------------------


@pytest.mark.requirement("C10", "E4")
async def test_a_simple_question_takes_four_model_calls() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    ran = await world.ask(SIMPLE.question)
    assert world.model.tasks == ["intake", "read", "assess", "draft"]
    assert ran.state.status is Status.COMPLETED
    assert ran.state.stage is Stage.REPORT
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert ran.state.termination_text == (
        "Stopped: the question is answered by 2 independent sites."
    )
    usage = ran.usage
    assert (usage.llm_calls, usage.searches, usage.fetches, usage.retries) == (4, 1, 2, 0)
    assert usage.prompt_tokens == 400 and usage.completion_tokens == 200
    assert usage.cost_usd == pytest.approx(0.004)
    assert usage.fallbacks == {} and ran.of(Problem) == []


@pytest.mark.requirement("E1")
async def test_topics_are_on_record_before_anything_is_searched_for_them() -> None:
    world = harbour(CHAIN)
    records: list[Any] = []
    seen: list[tuple[str, set[str], set[str]]] = []
    search, config = world.web.search, ResearchConfig()

    async def look(request: SearchRequest) -> SearchAnswer:
        units = {unit.topic for unit in records if isinstance(unit, Unit)}
        rounds = {topic for each in records if isinstance(each, Round) for topic in each.topics}
        seen.append((request.query, units, rounds))
        return await search(request)

    world.web.search = look  # type: ignore[method-assign]
    journal = Journal(
        world.store, world.tools(), Meter(config), records.append, None, world.analyst
    )
    await journal.open()
    await run_research(Question(CHAIN.question, "2026-03-01", True), config, journal)
    asked = {part.question for part in CHAIN.parts}
    assert {query for query, _, _ in seen[:3]} == {part.query for part in CHAIN.parts}
    assert all(units == rounds == asked for _, units, rounds in seen[:3])


@pytest.mark.requirement("E3")
async def test_the_model_is_shown_what_was_searched_for_already() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    await world.ask(CHAIN.question, **ENOUGH)
    asked = [request.prompt for request in world.model.requests if request.task == "assess"]
    first, second, _ = [sections_of(prompt)["ALREADY SEARCHED"].split("\n") for prompt in asked]
    assert first == [f"- {part.query}" for part in CHAIN.parts]
    assert "- Edda Marlow" in second and first == second[:3]


@pytest.mark.requirement("E8", "E11")
async def test_a_refused_topic_is_kept_with_its_round_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "research.engine")
    again = CHAIN.parts[0].query
    world = ending(CHAIN, directions=[again])
    ran = await world.ask(CHAIN.question, adaptive_max_depth=2)
    await world.replay(CHAIN.question, adaptive_max_depth=2)
    [skip] = ran.rounds[1].skipped
    assert (skip.topic, skip.twin, skip.similarity) == (again, again, 1)
    assert again not in ran.rounds[1].topics and world.web.searched.count(again) == 1
    said = f"refused the topic '{again}': 1.00 like '{again}'"
    assert [each.levelname for each in caplog.records if said in each.message] == ["INFO"]


@pytest.mark.requirement("E6", "E9", "E11")
async def test_an_early_end_is_logged_with_its_novelty_and_the_threshold(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "research.engine")
    ran = await ending(SIMPLE, **ONGOING).ask(SIMPLE.question, adaptive_soft_depth=(5, 5, 5))
    last = ran.rounds[-1]
    assert ran.state.termination_reason is StopReason.NO_NOVELTY and (last.novelty or 0) < 0.15
    said = f"no_novelty after round {last.number}: score {last.score} of 7, "
    [ended] = [each for each in caplog.records if said in each.message]
    assert ended.levelname == "INFO"
    assert ended.message.endswith(f"novelty {last.novelty} of 0.15")
    share, bar = format_percent(last.novelty or 0), bar_percent(0.15)
    told = f"; {share} of the words were new, less than the {bar} asked for."
    assert told in (ran.state.termination_text or "") and told in last.decision


@pytest.mark.requirement("A1", "C9")
async def test_a_chain_is_followed_page_by_page() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    ran = await world.ask(CHAIN.question, **ENOUGH)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert [len(r.topics) for r in ran.rounds] == [3, 2, 1, 1]
    assert ran.rounds[-1].stage is Stage.VERIFICATION
    assert world.web.searched[3] == "Edda Marlow"
    assert world.web.searched[-2] == "Calder foundry"
    assert {aspect.state for aspect in ran.of(Aspect)} == {"answered"}
    assert all(gap.closed_round and gap.closed_by for gap in ran.of(Gap))
    assert max(world.web.fetched.values()) == 1
    assert world.model.tasks.count("draft") == 1
    check_markers(ran)


@pytest.mark.requirement("A1", "A15", "C19")
async def test_each_round_is_judged_once_and_only_that_goes_to_the_evaluator() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    ran = await world.ask(CHAIN.question, **ENOUGH)
    judged = [r for r in ran.rounds if "Looked for other sources" not in r.decision]
    assert world.model.tasks.count("assess") == len(judged) == 3
    roles = {request.task: request.role for request in world.model.requests}
    assert roles == {
        "intake": "research",
        "read": "reader",
        "assess": "evaluator",
        "draft": "research",
    }


@pytest.mark.requirement("A8")
async def test_a_later_round_reads_for_its_gap_and_knows_the_whole_question() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    await world.ask(CHAIN.question, **ENOUGH)
    prompts = [sections_of(asked.prompt) for asked in world.model.requests if asked.task == "read"]
    assert {prompt["QUESTION"] for prompt in prompts} == {CHAIN.question}
    topics = [prompt["TOPIC OF THIS READING"] for prompt in prompts]
    assert topics[0] == "[A1]", "the first sub-question, without repeating it"
    assert topics[-1] == f"No answer to: {CHAIN.parts[2].question}"


@pytest.mark.requirement("A2")
async def test_the_score_follows_from_the_marks_and_what_the_model_says_stands_beside_it() -> None:
    marks = {"completeness": 9, "depth": 8, "reliability": 8, "actionability": 7}
    ran = await ending(SIMPLE, dimensions=marks, overall=2).ask(SIMPLE.question)
    judged = ran.rounds[0]
    assert (judged.score, judged.model_score, judged.model_overall) == (8, 8, 2)
    assert judged.dimensions == Dimensions(9, 8, 8, 7)
    assert judged.reasoning == "0 parts are missing."


@pytest.mark.requirement("A9")
async def test_a_judgement_that_cannot_be_read_gives_way_to_one_from_what_was_found() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {**answer, "dimensions": "good"}
    ran = await world.ask(SIMPLE.question)
    assert world.model.tasks.count("assess") == 4 and ran.usage.retries == 3
    assert ran.usage.fallbacks == {"assess": {"invalid answer": 1}}
    assert {p.message for p in ran.of(Problem)} == {"Done by code instead: invalid answer."}
    judged = ran.rounds[0]
    assert judged.reasoning == "1 of 1 answered, 2 passages that may answer."
    assert judged.dimensions == Dimensions(10, 10, 10, None) and judged.score == 10
    assert judged.model_overall is None
    assert ran.state.termination_reason is StopReason.QUALITY_MET


@pytest.mark.requirement("D1", "E12", "F5")
async def test_without_a_model_the_same_path_gives_the_same_records() -> None:
    ran = await harbour().ask(SIMPLE.question)
    assert ran.state.status is Status.COMPLETED
    assert ran.state.analyst == "extractive"
    assert LIT in ran.report.markdown.replace("**", "")
    assert ran.usage.llm_calls == 0
    check_markers(ran)


@pytest.mark.requirement("D12")
async def test_without_a_working_model_code_does_its_tasks_and_the_record_says_so() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    for task in ("intake", "read", "assess", "draft"):
        world.model.faults[task] = [ModelFailedError("It is down.", permanent=True)] * 20
    ran = await world.ask(SIMPLE.question)
    assert ran.state.status is Status.COMPLETED
    assert LIT in ran.report.markdown.replace("**", "")
    causes = ran.usage.fallbacks
    assert set(causes) == {"intake", "read", "assess", "draft"}
    assert {cause for task in causes.values() for cause in task} == {"It is down."}
    assert {p.message for p in ran.of(Problem)} == {"Done by code instead: It is down."}


# --- every reason to end --------------------------------------------------------------------


def nothing() -> World:
    cheese = page("https://cheese.example/", "Cheddar is a hard cheese from Somerset.", "Cheese")
    return World(Web([cheese]), Oracle(SIMPLE))


def unreadable() -> World:
    world = harbour(SIMPLE)
    world.web.down.add("fetch")
    return world


def stuck() -> World:
    """A model that is not content and knows no further way."""
    query = "Harrow Point lighthouse first lit"
    gap = {"text": "Lit", "sub_question": "A1", "query": query, "critical": True}
    return ending(SIMPLE, ready=False, gaps=[gap])


def ending(script: Script | None = SIMPLE, **assess: Any) -> World:
    world = harbour(script)
    if world.model and assess:
        world.model.twists["assess"] = lambda answer: {**answer, **assess}
    return world


def dear() -> World:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.tokens = (3000, 500)
    return world


def slow() -> World:
    world = harbour(CHAIN)
    world.clock = Clock(step=2)
    return world


ONGOING: dict[str, Any] = {
    "dimensions": {"completeness": 3, "depth": 3, "reliability": 3, "actionability": 3},
    "ready": False,
    "gaps": [
        {"text": "Height", "sub_question": "A1", "query": "harbour tower height", "critical": True}
    ],
    "directions": [f"{word} lighthouse history" for word in ("keeper", "storm")],
}
REASONS: dict[StopReason, tuple[World, dict[str, Any]]] = {
    StopReason.CANCELLED: (ending(), {"inbox": Commands({"kind": "cancel"})}),
    StopReason.USER_STOPPED: (ending(), {"inbox": Commands({"kind": "stop"})}),
    StopReason.BUDGET_TIME: (slow(), {"max_seconds": 5}),
    StopReason.BUDGET_CALLS: (ending(CHAIN), {"max_llm_calls": 5}),
    StopReason.BUDGET_TOKENS: (dear(), {"max_tokens": 41_500}),
    StopReason.BUDGET_COST: (ending(CHAIN), {"max_cost_usd": 0.002}),
    StopReason.BUDGET_SEARCHES: (ending(CHAIN), {"max_searches": 3}),
    StopReason.BUDGET_FETCHES: (ending(CHAIN), {"max_fetches": 2}),
    StopReason.MAX_UNITS: (ending(CHAIN), {"max_research_units": 3}),
    StopReason.MAX_ROUNDS: (ending(CHAIN), {"adaptive_max_depth": 2}),
    StopReason.PAGES_UNREADABLE: (unreadable(), {}),
    StopReason.NOTHING_FOUND: (nothing(), {}),
    StopReason.QUALITY_MET: (ending(), {}),
    StopReason.NO_GAPS: (ending(), {"adaptive_quality_threshold": 9.5}),
    StopReason.STUCK: (stuck(), {}),
    StopReason.NO_NOVELTY: (ending(SIMPLE, **ONGOING), {"adaptive_soft_depth": (5, 5, 5)}),
    StopReason.KNOWN_BEFORE: known("E1"),
    StopReason.DIMINISHING_QUALITY: (
        ending(SIMPLE, **ONGOING),
        {"adaptive_soft_depth": (5, 5, 5), "min_novelty_threshold": 0, "min_evidence_records": 9},
    ),
}


@pytest.mark.requirement("A3", "A5", "A6", "A10", "C14", "E9")
@pytest.mark.parametrize("reason", sorted(set(StopReason) - {StopReason.TREE_COMPLETE}))
async def test_every_reason_to_end_can_be_reached(reason: StopReason) -> None:
    world, knobs = REASONS[reason]
    question = (world.model.script if world.model else SIMPLE).question
    if reason is StopReason.DIMINISHING_QUALITY:
        world.web = Web([
            *world.web.pages.values(),
            page("https://tower.example/", "The harbour tower height is stated as thirty yards by "
                 "masons whose first lit kiln stands behind the quay.", "harbour tower height"),
        ])  # fmt: skip
    ran = await world.ask(question, **knobs)
    assert ran.state.termination_reason is reason
    assert ran.state.termination_text
    is_gain = "points, less than the +0.5 asked for" in ran.state.termination_text
    assert is_gain == (reason is StopReason.DIMINISHING_QUALITY)
    assert ran.state.status is (
        Status.CANCELLED if reason is StopReason.CANCELLED else Status.COMPLETED
    )
    assert (ran.of(Report) == []) == (reason is StopReason.CANCELLED)
    last = ran.rounds[-1]
    assert last.closed and last.decision == ran.state.verdict
    check_limits(ran, world)
    replayed = await world.replay(question, **{k: v for k, v in knobs.items() if k != "inbox"})
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])


@pytest.mark.requirement("C6")
async def test_what_a_gate_lacks_is_looked_for_whatever_the_model_says() -> None:
    """One topic a round: after the first, two of three sub-questions were never searched."""
    content = {"gaps": [], "unanswered": [], "ready": True}
    one_a_round = {"topics_per_round": (1, 1, 1)}
    ran = await ending(CHAIN, **content).ask(CHAIN.question, **one_a_round)
    asked = [part.question for part in CHAIN.parts]
    assert [topic for r in ran.rounds for topic in r.topics][:2] == asked[:2]
    open_gates = {g.gate for g in ran.of(GateResult) if g.round == 1 and g.decision == "retry"}
    assert {"deep_research", "evidence"} <= open_gates


@pytest.mark.requirement("A5", "C6")
async def test_a_gate_that_lacks_nothing_adds_no_topic() -> None:
    world = ending(SIMPLE, gaps=[], unanswered=[], ready=False)
    ran = await world.ask(SIMPLE.question, adaptive_quality_threshold=10)
    assert len(ran.rounds) == 1
    assert ran.state.termination_reason is StopReason.NO_GAPS


async def test_a_run_to_which_nothing_answered_has_failed() -> None:
    world = harbour(SIMPLE)
    world.web.down |= {"search"}
    ran = await world.ask(SIMPLE.question)
    assert ran.state.status is Status.FAILED
    assert ran.state.termination_reason is None and ran.state.quality_score is None
    assert ran.state.verdict.startswith("Failed: ")
    assert ran.of(Report) == []
    assert {p.message for p in ran.of(Problem)} == {"The search did not answer."}


async def test_a_search_that_finds_nothing_is_no_failure() -> None:
    ran = await World(Web([])).ask(SIMPLE.question)
    assert ran.state.status is Status.COMPLETED
    assert ran.state.termination_reason is StopReason.NOTHING_FOUND
    assert ran.report.markdown == ""


async def test_a_spent_budget_is_no_failure_of_the_outside() -> None:
    ran = await harbour(SIMPLE).ask(SIMPLE.question, max_searches=0)
    assert ran.state.status is Status.COMPLETED
    assert ran.state.termination_reason is StopReason.BUDGET_SEARCHES


async def test_the_minimum_depth_is_kept_even_when_the_first_round_answers() -> None:
    world = ending(SIMPLE, directions=["Harrow Point keepers", "Harrow Point storms"])
    ran = await world.ask(SIMPLE.question, adaptive_min_depth=2)
    assert len(ran.rounds) == 2


@pytest.mark.requirement("A7")
async def test_the_minimum_depth_is_kept_where_the_model_knows_nothing_more_to_look_for() -> None:
    ran = await ending(SIMPLE).ask(SIMPLE.question, adaptive_min_depth=2)
    assert len(ran.rounds) == 2


def check_limits(ran: Ran, world: World) -> None:
    """What holds for every run, whatever the analyst says."""
    config = ran.journal.meter.config
    usage = ran.usage
    assert ran.state.status in ENDED
    assert len(ran.rounds) <= config.adaptive_max_depth
    assert sum(len(r.topics) for r in ran.rounds) <= config.max_research_units
    assert len(world.web.searched) == usage.searches <= config.max_searches
    assert sum(world.web.fetched.values()) == usage.fetches <= config.max_fetches
    assert usage.llm_calls <= config.max_llm_calls
    assert usage.prompt_tokens + usage.completion_tokens <= config.max_tokens
    assert max(world.web.fetched.values(), default=0) <= 1
    assert all(unit.status in {"done", "failed", "late", "dropped"} for unit in ran.of(Unit))
    if world.model:
        assert len(world.model.requests) == usage.llm_calls
        assert all(len(request.prompt) < 100_000 for request in world.model.requests)


# --- people ---------------------------------------------------------------------------------

ASKING = Script(SIMPLE.question, SIMPLE.parts, clarifying=("Which lamp?",))


@pytest.mark.requirement("D1", "D12")
async def test_it_waits_for_answers_and_approval_and_goes_on_where_it_was() -> None:
    world = harbour(ASKING)
    assert world.model is not None
    first = await world.ask(ASKING.question, agreed=False)
    assert isinstance(first.ended, ParkedError)
    assert first.state.status is Status.AWAITING_CLARIFICATION
    assert first.only(Plan).questions == ("Which lamp?",)

    answer = {"kind": "answer", "answers": ["The old one.", " "]}
    second = await world.ask(ASKING.question, agreed=False, inbox=Commands(answer))
    assert isinstance(second.ended, ParkedError)
    assert second.state.status is Status.AWAITING_APPROVAL
    assert second.only(Plan).questions == ()
    assert "# CLARIFICATIONS\n- The old one.\n" in world.model.requests[-1].prompt

    approve = {
        "kind": "approve",
        "aspects": [SIMPLE.question, "  Who  keeps it? ", " "],
        "evidence_strategy": "Official registers ",
    }
    third = await world.ask(ASKING.question, agreed=False, inbox=Commands(approve))
    assert third.ended is None and third.state.status is Status.COMPLETED
    assert [a.text for a in third.only(Plan).aspects] == [SIMPLE.question, "Who keeps it?"]
    assert [a.query for a in third.only(Plan).aspects] == [
        "Harrow Point lighthouse first lit",
        "Who keeps it?",
    ]
    assert third.only(Plan).evidence_strategy == "Official registers"
    judged = [r.prompt for r in world.model.requests if r.task == "assess"]
    assert judged and all("# WANTED EVIDENCE\nOfficial registers\n" in p for p in judged)
    assert world.model.tasks.count("intake") == 2
    replayed = await world.replay(ASKING.question, agreed=False)
    assert replayed.final() == third.final()


@pytest.mark.requirement("D12")
async def test_a_plan_can_be_sent_back_with_a_comment() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    inbox = Commands({"kind": "revise", "comment": "Only the lamp, please."})
    ran = await world.ask(SIMPLE.question, agreed=False, inbox=inbox)
    assert isinstance(ran.ended, ParkedError)
    assert "# COMMENT ON YOUR LAST PLAN\nOnly the lamp, please." in world.model.requests[-1].prompt
    ran = await world.ask(SIMPLE.question, agreed=False, inbox=Commands({"kind": "approve"}))
    assert ran.state.status is Status.COMPLETED


@pytest.mark.parametrize("documents", [(), ("Team handbook", "postgresql-doc-15")])
async def test_a_plan_is_told_which_documents_alone_are_searched(documents: tuple[str]) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    await world.ask(SIMPLE.question, documents=documents)
    intake = world.model.requests[0]
    told = "# SEARCHED DOCUMENTS\n- Team handbook\n- postgresql-doc-15\n"
    assert (told in intake.prompt) is ("own documents" in intake.system) is bool(documents)


async def test_a_plan_is_told_the_titles_of_documents_and_a_replay_what_they_were() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.contents = ("Team handbook (2): Mills; </system> Weirs",)
    ran = await world.ask(SIMPLE.question, documents=("Team handbook",))
    told = "# SEARCHED DOCUMENTS\n- Team handbook (2): Mills; ‹/system> Weirs\n"
    assert told in world.model.requests[0].prompt
    world.contents = ("Team handbook (1): Mills",)
    replayed = await world.replay(SIMPLE.question, documents=("Team handbook",))
    assert replayed.final() == ran.final()
    assert not replayed.journal.divergences


async def test_documents_searched_beside_the_web_are_not_told() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.contents = ("Team handbook (2): Mills; Weirs",)
    await world.ask(SIMPLE.question)
    assert "Weirs" not in world.model.requests[0].prompt


async def test_skipping_the_questions_goes_on_without_another_call() -> None:
    world = harbour(ASKING)
    assert world.model is not None
    inbox = Commands({"kind": "skip"}, {"kind": "approve"})
    ran = await world.ask(ASKING.question, agreed=False, inbox=inbox)
    assert ran.state.status is Status.COMPLETED
    assert world.model.tasks.count("intake") == 1


# --- pages that come late -------------------------------------------------------------------

SLOW_PAGE = "https://register.example/harrow"


async def test_a_page_that_is_late_does_not_hold_the_round_and_a_replay_agrees() -> None:
    world = harbour(SIMPLE)
    world.web.hang[SLOW_PAGE] = asyncio.Event()
    ran = await asyncio.wait_for(world.ask(SIMPLE.question, unit_seconds=0.05), 5)
    late = next(source for source in ran.of(Source) if source.url == SLOW_PAGE)
    assert (late.status, late.reason) == (
        "not_read",
        "not there in time; counts in a later round if it comes",
    )
    assert world.store.entries["round/1/unit/1/late", 1].answer == [SLOW_PAGE]
    assert LIT in ran.report.markdown.replace("**", "")
    replayed = await world.replay(SIMPLE.question, unit_seconds=0.05)
    assert replayed.final() == ran.final()
    assert replayed.journal.divergences == []


async def test_a_page_that_arrives_in_a_later_round_changes_no_earlier_decision() -> None:
    world = harbour(CHAIN)
    arrives = world.web.hang[SLOW_PAGE] = asyncio.Event()
    search = world.web.search

    async def let_it_come(request: SearchRequest) -> SearchAnswer:
        if len(world.web.searched) >= len(CHAIN.parts):
            arrives.set()
            await asyncio.sleep(0.02)
        return await search(request)

    world.web.search = let_it_come  # type: ignore[method-assign]
    ran = await world.ask(CHAIN.question, unit_seconds=0.05, max_fetches=2)
    assert len(ran.rounds) > 1
    assert sum(world.web.fetched.values()) == 2
    replayed = await world.replay(CHAIN.question, unit_seconds=0.05, max_fetches=2)
    assert replayed.final() == ran.final()
    assert replayed.journal.divergences == []


async def test_an_interruption_ends_the_waiting_for_pages() -> None:
    world = harbour(SIMPLE)
    world.web.hang[SLOW_PAGE] = asyncio.Event()
    running = asyncio.create_task(
        _interrupted(world, Commands({"kind": "stop"})), name="interrupted run"
    )
    ran = await asyncio.wait_for(running, 5)
    assert ran.state.termination_reason is StopReason.USER_STOPPED
    assert LIT in ran.report.markdown.replace("**", "")


async def _interrupted(world: World, inbox: Commands) -> Ran:
    records: list[Any] = []
    journal = Journal(
        world.store, world.tools(), Meter(ResearchConfig()), records.append, inbox, world.analyst
    )
    await journal.open()
    asyncio.get_running_loop().call_later(0.05, journal.interrupted.set)
    await run_research(Question(SIMPLE.question, "2026-03-01", True), ResearchConfig(), journal)
    return Ran(journal, records)


# --- the same again -------------------------------------------------------------------------

TWICE = [(SIMPLE, SIMPLE.question), (CHAIN, CHAIN.question), (None, CHAIN.question)]


@pytest.mark.parametrize("script, question", TWICE)
async def test_the_same_run_twice_gives_the_same_records(
    script: Script | None, question: str
) -> None:
    first, second = [await harbour(script).ask(question) for _ in range(2)]
    assert first.records == second.records


@pytest.mark.requirement("B8")
@pytest.mark.parametrize("script, question", TWICE)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_order_of_arrival_changes_nothing(
    script: Script | None, question: str, seed: int
) -> None:
    calm = await harbour(script).ask(question)
    wild = await harbour(script, random.Random(seed)).ask(question)
    assert wild.final() == calm.final()


@pytest.mark.parametrize("script, question", TWICE)
async def test_a_replay_without_tools_has_no_miss_and_the_same_records(
    script: Script | None, question: str
) -> None:
    world = harbour(script)
    ran = await world.ask(question)
    replayed = await world.replay(question)
    assert replayed.ended is None
    assert (replayed.journal.live, replayed.journal.divergences) == (0, [])
    assert replayed.journal.replayed == ran.journal.live > 0
    assert replayed.final() == ran.final()


@pytest.mark.parametrize("script", [SIMPLE, CHAIN])
async def test_a_run_broken_off_anywhere_goes_on_without_asking_again(script: Script) -> None:
    whole = harbour(script)
    expected = await whole.ask(script.question)
    entries = await whole.store.load()
    for kept in range(0, len(entries), 1 if script is SIMPLE else 4):
        world = harbour(script)
        world.store.texts = dict(whole.store.texts)
        for entry in entries[:kept]:
            await world.store.put(entry)
        ran = await world.ask(script.question)
        assert ran.final() == expected.final()
        settled = [e for e in entries[:kept] if e.status != "pending"]
        assert world.model is not None
        assert len(world.model.requests) == len(whole.model.requests) - sum(  # type: ignore[union-attr]
            entry.kind == "model" for entry in settled
        )
        assert len(world.web.searched) == len(whole.web.searched) - sum(
            entry.kind == "search" for entry in settled
        )


async def test_a_what_if_replay_ends_where_the_journal_ends() -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, adaptive_max_depth=1)
    deeper = await world.replay(CHAIN.question)
    assert isinstance(deeper.ended, JournalEndsError)
    assert deeper.ended.place == "round/1/scout/1"


@pytest.mark.requirement("D7")
async def test_one_unit_at_a_time_finds_the_same() -> None:
    wide = await harbour(CHAIN).ask(CHAIN.question)
    narrow = await harbour(CHAIN).ask(CHAIN.question, max_concurrent_research_units=1)
    assert narrow.final() == wide.final()


# --- hostile analysts -----------------------------------------------------------------------

GOOD = {"completeness": 10, "depth": 10, "reliability": 10, "actionability": 10}


def many_gaps(answer: Any) -> Any:
    gaps = [
        {"text": f"Gap {n} of ship{n}", "sub_question": "", "query": f"ship{n} of harbour{n}",
         "critical": True}
        for n in range(10_000)
    ]  # fmt: skip
    return {**answer, "gaps": gaps, "ready": False}


def flattering(answer: Any) -> Any:
    return {**answer, "dimensions": GOOD, "overall": 10, "ready": True, "gaps": [],
            "unanswered": []}  # fmt: skip


def never_ready(answer: Any) -> Any:
    return {**answer, "dimensions": dict.fromkeys(GOOD, -99), "ready": False,
            "unanswered": ["A1", "Z9"],
            "gaps": [{"text": "More", "sub_question": "A1", "query": "more", "critical": True}],
            "directions": ["more"] * 500}  # fmt: skip


def wrong_numbers(answer: Any) -> Any:
    found = [{**f, "claim": "It was first lit in 1666 by 99 men."} for f in answer["findings"]]
    return {**answer, "findings": found}


def invented(answer: Any) -> Any:
    return {**answer, "findings": [{**f, "sentences": [4711]} for f in answer["findings"]]}


HOSTILE: dict[str, dict[str, Any]] = {
    "always ready": {"assess": flattering},
    "never ready": {"assess": never_ready},
    "10,000 gaps": {"assess": many_gaps},
    "invented sentence numbers": {"read": invented},
    "wrong numbers": {"read": wrong_numbers},
    "no findings": {"read": lambda _: {"findings": [], "leads": []}},
    "empty objects": dict.fromkeys(("intake", "read", "assess", "draft", "repair"), lambda _: {}),
    "lists": dict.fromkeys(("intake", "read", "assess", "draft", "repair"), lambda _: [1, 2]),
    "null": dict.fromkeys(("intake", "read", "assess", "draft", "repair"), lambda _: None),
    "wrong types": {
        "intake": lambda a: {**a, "sub_questions": "all", "complexity": 7},
        "read": lambda a: {**a, "findings": {"claim": 1}},
        "assess": lambda a: {**a, "dimensions": "good", "ready": "perhaps"},
        "draft": lambda a: {**a, "short_answer": 3},
    },
    "false sentences on true evidence": {
        "draft": lambda _: {
            "statements": [
                "Pirates never lit it in 1666. [E1, E2]",
                "It cost 99 crowns in 1666.",
                "In 1666 it burned down. [E4711]",
            ],
            "short_answer": ["It was lit in 1666. [E1]", "2", "4711"],
        },
        "repair": lambda _: {
            "statements": [
                {"number": n, "text": "It was lit in 1666.", "evidence": ["E1"]}
                for n in range(-5, 50)
            ]
        },
    },
    "no sub-questions": {"intake": lambda a: {**a, "sub_questions": [], "language": ""}},
    "the same sub-question": {"intake": lambda a: {**a, "sub_questions": a["sub_questions"] * 50}},
    "strange characters": {
        "assess": lambda a: {
            **a,
            "ready": False,
            "gaps": [{"text": "\ud800\x00 tide", "sub_question": "", "query": "\udfff tide\x00",
                      "critical": True}],
        }
    },
    "endless marks": {"assess": lambda a: {**a, "dimensions": dict.fromkeys(GOOD, float("nan")),
                                           "overall": float("inf")}},
}  # fmt: skip


@pytest.mark.requirement("A9")
@pytest.mark.parametrize("script", [SIMPLE, CHAIN], ids=["simple", "chain"])
@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_analyst_ends_within_limits_with_an_honest_report(
    name: str, script: Script
) -> None:
    world = harbour(script)
    assert world.model is not None
    world.model.twists |= HOSTILE[name]
    ran = await asyncio.wait_for(world.ask(script.question, max_llm_calls=40), 20)
    assert ran.state.status is Status.COMPLETED
    check_limits(ran, world)
    assert "1666" not in ran.report.markdown
    assert {record.claim for record in ran.evidence if "1666" in record.claim} == set()
    if ran.report.markdown:
        check_markers(ran)
        for last in ran.rounds:
            assert last.score is not None and last.cap is not None
            assert 1 <= last.score <= max(last.cap, 1)
    else:
        assert not [a for a in ran.of(Aspect) if a.evidence_ids]
    replayed = await world.replay(script.question, max_llm_calls=40)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])


@pytest.mark.requirement("A3", "D3")
async def test_a_flattering_model_does_not_end_research_that_found_too_little() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["assess"] = flattering
    ran = await world.ask(CHAIN.question)
    assert ran.state.termination_reason is not StopReason.QUALITY_MET
    first = ran.rounds[0]
    assert first.model_score == 10 and first.score is not None and first.score < 7
    assert first.cap_reason
    assert "Not found" in ran.report.markdown


async def test_a_question_that_nobody_has_parts_for_is_its_own_sub_question() -> None:
    bare = Script("Where is the Harrow Point lighthouse?", (Part("", "", ()),))
    ran = await harbour(bare).ask(bare.question)
    assert ran.of(Aspect)[0].text == bare.question


async def test_a_search_that_hangs_is_given_up_and_said() -> None:
    class Hanging(Web):
        async def search(self, request: SearchRequest) -> SearchAnswer:
            await asyncio.Event().wait()
            raise AssertionError

    world = World(Hanging([]))
    ran = await world.ask(SIMPLE.question, unit_seconds=0.05)
    assert ran.state.status is Status.FAILED
    assert any("did not answer in time" in problem.message for problem in ran.of(Problem))
    again = await world.replay(SIMPLE.question, unit_seconds=0.05)
    assert again.final() == ran.final()


async def test_no_model_call_outlives_the_time_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_passages, "answer_probability", lambda *_: 0.5)

    class Endless(Oracle):
        async def complete(self, request: ModelRequest) -> ModelAnswer:
            await asyncio.Event().wait()
            raise AssertionError

    world = World(Web(harbour_pages()), Endless(SIMPLE), clock=LoopClock())
    asked = "When was the Harrow Point lighthouse repainted in stripes?"
    ran = await world.ask(asked, max_seconds=0.2)
    assert ran.state.status is Status.COMPLETED
    assert ran.state.termination_reason is StopReason.BUDGET_TIME
    assert ran.report.markdown
    assert ran.usage.seconds == pytest.approx(0.2)
    assert ran.usage.completion_tokens >= 1500 and ran.usage.prompt_tokens > 0, "nobody saw it"
    assert ran.usage.tokens_estimated
    causes = {cause for causes in ran.usage.fallbacks.values() for cause in causes}
    assert causes <= {
        "the model did not answer within its share of the run's time",
        "budget_time",
    }
    assert world.web.searched


COMPARED = Script(
    "Which is better, Alto or Corsair, by price?",
    (Part("What do Alto and Corsair cost?", "price marks", ("costs",)),),
)


@pytest.mark.parametrize("documents", [(), ("Catalogue",)])
async def test_documents_are_searched_for_each_thing_that_is_compared(
    documents: tuple[str, ...],
) -> None:
    pages = [
        page(f"https://{name}.example/", f"The {name} costs {n}00 marks.", name)
        for n, name in enumerate(("Alto", "Corsair"), 3)
    ]
    world = World(Web(pages), Oracle(COMPARED))
    ran = await world.ask(COMPARED.question, documents=documents)
    [first, *_] = [e for e in await ran.journal.store.load() if e.kind == "search"]
    assert first.request.get("each") == (("Alto", "Corsair") if documents else None)
    replayed = await world.replay(COMPARED.question, documents=documents)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
