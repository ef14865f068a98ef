"""Claims that rest on one source get one round of corroboration; stages and Gate 3."""

from typing import Any

import pytest

from research.engine.assessment import stages
from research.engine.assessment.criteria import ONE_WORK
from research.engine.evidence.ledger import Ledger
from research.engine.ports import SearchAnswer, SearchRequest
from research.engine.records import (
    Aspect,
    Evidence,
    GateResult,
    Round,
    RunState,
    Stage,
    Status,
    StopReason,
)
from research.engine.text.tokens import term_set
from tests.engine.scripted import Clock, Oracle, Part, Ran, Script, Web, World, page

TOWER = "The Orrin tower was raised by masons from Balla in 1702."
BELL = "The Orrin bell was cast by Jonna Reiss from the cannon of a wreck."
BELL_TOO = "It was Jonna Reiss who cast the Orrin bell from the cannon of a wreck."
CHIME = "For the Orrin bell, Reiss asked no wages but bread and beer."
PARTS = (
    Part("Who raised the Orrin tower?", "Orrin tower raised", ("masons",)),
    Part("Who cast the Orrin bell?", "Orrin bell cast", ("Reiss",)),
)
QUESTION = Script("Who raised the Orrin tower and who cast its bell?", PARTS, "ordinary")


class Deep(Web):
    """The pages of `hidden` are named only to searches that hold all of their words."""

    def __init__(self, *pages: Any, hidden: dict[str, str]) -> None:
        super().__init__(pages)
        self.hidden = hidden

    async def search(self, request: SearchRequest) -> SearchAnswer:
        answer = await super().search(request)
        words = term_set(request.query)
        return SearchAnswer(tuple(
            hit for hit in answer.hits
            if hit.url not in self.hidden or term_set(self.hidden[hit.url]) <= words
        ))  # fmt: skip


def tower(second: str = BELL_TOO, **hidden: str) -> World:
    """Three sites on the tower, two on the bell, which say different things; another is found by
    the words of the first one's claim only.
    """
    pages = [
        page(f"https://s{n}.example/tower", f"{TOWER} So says book {n}.", "Orrin tower raised")
        for n in range(3)
    ]
    pages.append(page("https://bell.example/", BELL, "Orrin bell cast"))
    pages.append(page("https://chime.example/", CHIME, "Orrin bell cast"))
    pages.append(page("https://wreck.example/", second, "The cannon of the wreck"))
    web = Deep(*pages, hidden={"https://wreck.example/": "Reiss cannon wreck", **hidden})
    return World(web, Oracle(QUESTION))


KNOBS: dict[str, Any] = {"min_evidence_records": 2}


async def asked(world: World, **knobs: Any) -> Ran:
    ran = await world.ask(QUESTION.question, **{**KNOBS, **knobs})
    replayed = await world.replay(QUESTION.question, **{**KNOBS, **knobs})
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])
    return ran


def bell(ran: Ran) -> Aspect:
    return next(aspect for aspect in ran.of(Aspect) if "bell" in aspect.text)


def cast(ran: Ran) -> Evidence:
    """The claim on who cast the bell."""
    return next(record for record in ran.of(Evidence) if "wreck" in record.claim)


@pytest.mark.requirement("C1", "C3")
async def test_a_weak_claim_is_corroborated_by_its_own_words_for_one_call() -> None:
    world = tower()
    assert world.model is not None
    ran = await asked(world)
    assert [r.stage for r in ran.of(Round)] == [Stage.OVERVIEW, Stage.VERIFICATION]
    assert world.model.tasks == ["intake", "read", "read", "assess", "read", "draft"]
    assert term_set(world.web.searched[-1]) <= term_set(BELL)
    assert bell(ran).state == "answered"
    assert ran.rounds[-1].decision.startswith("Looked for other sources on 1 claim: 1 confirmed.")
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert ran.state.stage is Stage.REPORT
    gates = {gate.gate: gate.decision for gate in ran.of(GateResult) if gate.round == 2}
    assert gates["deep_research"] == "pass"


async def test_what_is_not_to_be_had_is_said_and_stays_of_one_source() -> None:
    ran = await asked(tower("Nothing is known of any cannon, Reiss or wreck."))
    assert len(ran.rounds) == 2 and cast(ran).uncertainty == ("single_source",)
    assert ran.rounds[-1].decision.startswith(
        "Looked for other sources on 1 claim: 1 not to be had."
    )
    assert bell(ran).searches_without_news == 2


async def test_no_other_source_is_looked_for_in_one_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "is_one_work", True)
    ran = await asked(tower())
    assert Stage.VERIFICATION not in {each.stage for each in ran.of(Round)}
    assert "collection" not in ran.of(Round)[-1].decision
    [gate] = [each for each in ran.of(GateResult) if each.gate == "deep_research"][-1:]
    assert ONE_WORK in {each.unavailable for each in gate.criteria}


async def test_a_source_that_says_something_else_confirms_nothing() -> None:
    ran = await asked(tower("Reiss heard the Orrin bell, cannon and wreck in her last winter."))
    assert bell(ran).state == "answered", "there are two sources on the sub-question"
    assert ran.rounds[-1].decision.startswith(
        "Looked for other sources on 1 claim: 1 not repeated by other sources."
    )


async def test_pages_of_the_same_site_are_no_other_source() -> None:
    world = tower()
    again = page("https://bell.example/again", BELL_TOO, "Reiss cannon wreck Orrin bell")
    world.web = Deep(
        *(p for p in world.web.pages.values() if "wreck" not in p.url), again,
        hidden={again.url: "Reiss cannon wreck"},
    )  # fmt: skip
    ran = await asked(world)
    assert len(ran.rounds) == 2
    assert again.url not in world.web.fetched
    assert cast(ran).uncertainty == ("single_source",)


@pytest.mark.requirement("C3")
async def test_a_disputed_claim_is_looked_for_before_a_run_ends() -> None:
    """Two sites on each side of the dispute: neither claim rests on one source."""
    high = [f"The Orrin tower is {height} metres high." for height in (40, 40, 52, 52)]
    script = Script("How high is the Orrin tower?", (
        Part("How high is the Orrin tower?", "Orrin tower high", ("metres high",)),
    ), "ordinary")  # fmt: skip
    sites = [
        page(f"https://s{n}.example/", f"{text} So says book {n}, {own}.", "Orrin tower")
        for n, (text, own) in enumerate(zip(high, ("bound", "torn", "new", "lost"), strict=True))
    ]
    said = "A survey found: 40 metres of tower, at Orrin, in 1990."
    found = page("https://survey.example/", said, "Metres of the Orrin tower")
    world = World(Deep(*sites, found, hidden={found.url: "metres tower Orrin 40"}), Oracle(script))
    ran = await world.ask(script.question, **KNOBS)
    assert [r.stage for r in ran.rounds][-1] is Stage.VERIFICATION
    assert "Which of the two is right, and as of when" in ran.rounds[-1].topics[0]
    assert found.url in world.web.fetched
    gates = {gate.round: gate for gate in ran.of(GateResult) if gate.gate == "deep_research"}
    [checked] = [c for c in gates[1].criteria if c.name == "share of key claims cross-checked"]
    assert checked.value == 0, "a disputed claim is not cross-checked"


@pytest.mark.parametrize(
    "knobs",
    [
        {"min_sources_per_aspect": (1, 1, 1)},
        {"adaptive_max_depth": 1},
        {"max_searches": 2},
        {"max_llm_calls": 6},
        {"max_fetches": 4},
        {"max_research_units": 2},
    ],
)
async def test_it_is_skipped_where_minima_are_met_or_a_limit_forbids_it(
    knobs: dict[str, Any],
) -> None:
    ran = await asked(tower(), **knobs)
    assert len(ran.rounds) == 1
    assert ran.state.stage is Stage.REPORT


async def test_an_early_end_goes_to_the_report_without_verification() -> None:
    world = tower()
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {
        **answer, "dimensions": dict.fromkeys(answer["dimensions"], 3), "ready": False,
        "gaps": [{"text": "Sails", "sub_question": "A1", "query": "Orrin sails",
                                    "critical": True}],
    }  # fmt: skip
    ran = await asked(world)
    assert ran.state.termination_reason not in {StopReason.QUALITY_MET, StopReason.NO_GAPS}
    assert Stage.VERIFICATION not in {r.stage for r in ran.of(Round)[:1]}
    assert not any("other sources" in r.decision for r in ran.rounds)
    assert ran.state.stage is Stage.REPORT


# --- stages ---------------------------------------------------------------------------------


@pytest.mark.requirement("C1")
def test_every_stage_but_the_report_is_left_by_its_gate_or_an_early_end() -> None:
    for stage in Stage:
        events = {event for at, event in stages.TRANSITIONS if at is stage}
        if stage is Stage.REPORT:
            assert events == {"draft_failed"}
        else:
            back = {"more_research"} if stage is Stage.VERIFICATION else set()
            assert events == {stages.GATE_OF[stage], "early_end"} | back


@pytest.mark.requirement("C1")
async def test_a_round_of_research_after_both_gates_is_deep_research() -> None:
    ran = await asked(tower(), adaptive_min_depth=3, min_sources_per_aspect=(1, 1, 1))
    first, *others = ran.of(Round)
    passed = {
        gate.gate for gate in ran.of(GateResult) if gate.round == 1 and gate.decision == "pass"
    }
    assert {"overview", "deep_research"} <= passed and others
    assert first.stage is Stage.OVERVIEW
    assert {each.stage for each in others} == {Stage.DEEP_RESEARCH}
    assert set(ran.usage.spent_by["stage"]) == {"intake", "overview", "deep_research", "report"}


# --- Gate 3 on the draft --------------------------------------------------------------------


def liar(answer: Any) -> Any:
    """Most statements say what no quote says."""
    false = [f"It fell in {1800 + n}. [E1]" for n in range(20)]
    return {**answer, "statements": answer["statements"] + false}


def lying_once(world: World) -> None:
    assert world.model is not None
    drafts = iter([liar])
    world.model.twists["draft"] = lambda answer: next(drafts, lambda same: same)(answer)
    world.model.twists["repair"] = lambda _: {"statements": []}


@pytest.mark.requirement("C4")
async def test_a_draft_that_fails_its_gate_reopens_research_once() -> None:
    world = tower()
    lying_once(world)
    ran = await asked(world)
    assert world.model is not None and world.model.tasks.count("draft") == 2
    gates = [gate for gate in ran.of(GateResult) if gate.gate == "draft"]
    assert [gate.decision for gate in gates] == ["retry", "pass"]
    assert gates[0].feedback == ("share of statements that stood the check",)
    reopened = ran.rounds[gates[0].round]
    assert reopened.stage is Stage.DEEP_RESEARCH
    assert ran.state.status is Status.COMPLETED and ran.state.termination_reason
    assert "18" not in ran.report.short_answer


@pytest.mark.requirement("A16")
async def test_what_stages_take_adds_up_to_the_run() -> None:
    world = tower()
    lying_once(world)
    world.clock = Clock(0.25)
    ran = await asked(world)
    usage, stages_ = ran.usage, ran.usage.spent_by["stage"]
    assert set(stages_) == {"intake", "overview", "verification", "report", "deep_research"}
    assert sum(each.calls for each in stages_.values()) == usage.llm_calls
    assert sum(each.prompt_tokens for each in stages_.values()) == usage.prompt_tokens
    assert sum(each.completion_tokens for each in stages_.values()) == usage.completion_tokens
    assert sum(each.cost_usd or 0 for each in stages_.values()) == pytest.approx(usage.cost_usd)
    assert sum(each.seconds for each in stages_.values()) == pytest.approx(usage.seconds)
    assert all(each.seconds > 0 for each in stages_.values())
    assert stages_["report"].calls == world.model.tasks.count("draft") + world.model.tasks.count(
        "repair"
    )
    assert stages_["deep_research"].calls == sum(r.stage is Stage.DEEP_RESEARCH for r in ran.rounds)
    by_model = ran.usage.spent_by["model"].values()
    assert sum(each.calls for each in by_model) == usage.llm_calls


async def test_a_draft_that_always_fails_is_published_cut_after_one_reopening() -> None:
    world = tower()
    assert world.model is not None
    world.model.twists["draft"] = liar
    world.model.twists["repair"] = lambda _: {"statements": []}
    ran = await asked(world)
    assert world.model.tasks.count("draft") == 2
    assert ran.state.status is Status.COMPLETED
    assert "It fell" not in ran.report.markdown


async def test_research_reopens_only_once_although_there_is_more_to_ask() -> None:
    """Each reopened round would find claims whose words nobody searched for."""
    world = tower()
    assert world.model is not None
    world.model.twists["draft"] = liar
    world.model.twists["repair"] = lambda _: {"statements": []}
    more = page(
        "https://masons.example/",
        f"{TOWER} Their masons kept a book of debts in copper. No masons of that year drank "
        "anything but rain. Three masons lost a hand to frost.",
        "Orrin tower raised",
    )
    world.web = Web([more, *world.web.pages.values()])
    ran = await asked(world, adaptive_max_depth=9, researcher_search_budget=1)
    assert len([gate for gate in ran.of(GateResult) if gate.gate == "draft"]) == 2


@pytest.mark.parametrize("knobs", [{"adaptive_max_depth": 1}, {"max_searches": 2},
                                   {"max_llm_calls": 8}])  # fmt: skip
async def test_no_research_reopens_without_a_budget(knobs: dict[str, Any]) -> None:
    world = tower()
    lying_once(world)
    ran = await asked(world, **knobs)
    assert world.model is not None and world.model.tasks.count("draft") == 1
    assert [g.decision for g in ran.of(GateResult) if g.gate == "draft"] == ["retry"]
    assert ran.of(RunState)[0].status is Status.COMPLETED


# --- the log --------------------------------------------------------------------------------


@pytest.mark.requirement("E11")
async def test_refused_topics_and_ends_are_logged_with_score_and_threshold_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Rule E11; a replay, which repeats what was decided, logs nothing."""
    caplog.set_level("INFO", "research.engine")
    await asked(tower(), adaptive_max_depth=1)
    [ended] = [record for record in caplog.records if record.levelname == "INFO"]
    assert "max_rounds after round 1: score 9.0 of 7, novelty 1.0 of 0.15" in ended.message
    assert QUESTION.question[:40] in ended.message
