import re

import pytest

from research.engine.offline.passages import shown_passages
from research.engine.records import Aspect, Checks, GateResult, Source
from research.engine.report.checking import check
from research.engine.report.report_i18n import labels_for
from research.engine.text.tokens import words_in
from tests.engine.scripted import (
    CHAIN,
    DESIGNED,
    LIT,
    LIT_TOO,
    OWNED,
    SIMPLE,
    TRAINED,
    Answer,
    Oracle,
    Part,
    Ran,
    Script,
    Web,
    World,
    finding,
    harbour,
    page,
)


async def drafted(answer: Answer | None = None, **twists: object) -> tuple[Oracle, Ran]:
    world = harbour(SIMPLE)
    assert world.model is not None
    if answer is not None:
        world.model.twists["draft"] = lambda _: answer
    world.model.twists |= twists  # type: ignore[arg-type]
    return world.model, await world.ask(SIMPLE.question)


def check_markers(ran: Ran) -> None:
    """Every marker resolves to one citation and the other way round, and its quote stands there."""
    found = {int(mark) for mark in re.findall(r"\[(\d+)\]", ran.report.markdown)}
    assert found == {citation.marker for citation in ran.report.citations}
    assert sorted(found) == list(range(1, len(found) + 1))
    records = {record.id: record for record in ran.evidence}
    for citation in ran.report.citations:
        for each in citation.evidence_ids:
            quotes = [q for q in records[each].sources if q.url == citation.url]
            assert quotes
            for quote in quotes:
                text = ran.journal.store.texts[quote.text_sha256]  # type: ignore[attr-defined]
                assert text[quote.start : quote.end] == quote.quote


@pytest.mark.requirement("D14", "F2")
async def test_a_report_answers_first_and_names_its_sources() -> None:
    _, ran = await drafted()
    check_markers(ran)
    head, answer, facts, *_ = ran.report.markdown.split("\n\n")
    assert head == f"# {SIMPLE.question}"
    assert answer == f"**Short answer.** {LIT} [1]"
    assert "1 of 1 answered" in facts
    assert "## Sources\n\n### Cited" in ran.report.markdown
    assert {s.url for s in ran.of(Source) if s.status == "cited"} == {
        citation.url for citation in ran.report.citations
    }
    assert ran.report.checks == Checks(statements=3, cited=3, by_code=3, open_points=0, disputes=0)


@pytest.mark.requirement("F2")
async def test_a_faulty_statement_is_repaired_once() -> None:
    wrong = LIT.replace("1887", "1889")
    model, ran = await drafted({"statements": [f"{wrong} [E1]"], "short_answer": []})
    assert model.tasks[-2:] == ["draft", "repair"]
    assert f"[1] (A1) {wrong} (cites E1): number differs" in model.requests[-1].prompt
    assert "1889" not in ran.report.markdown
    assert (ran.report.checks.repaired, ran.report.checks.cut) == (1, 0)
    check_markers(ran)


@pytest.mark.requirement("F2")
async def test_what_the_repair_does_not_mend_is_cut_and_the_share_shown() -> None:
    wrong = LIT.replace("1887", "1889")
    draft = {"statements": [f"{wrong} [E1]", f"{LIT_TOO} [E2]"], "short_answer": []}
    model, ran = await drafted(
        draft,
        repair=lambda _: {"statements": [{"number": 1, "text": wrong, "evidence": ["E1"]}]},
    )
    assert model.tasks.count("repair") == 1
    assert "1889" not in ran.report.markdown and LIT_TOO in ran.report.markdown
    assert (ran.report.checks.repaired, ran.report.checks.cut) == (0, 1)
    assert "1 statement cut in the check" in ran.report.markdown


@pytest.mark.requirement("F2")
async def test_few_faulty_statements_are_quoted_without_another_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check, "QUOTED_WITHOUT_REPAIR", 0.5)
    wrong = LIT.replace("1887", "1889")
    draft = {"statements": [f"{LIT_TOO} [E2]", f"{wrong} [E1]"], "short_answer": []}
    model, ran = await drafted(draft)
    assert "repair" not in model.tasks
    told = f"“{LIT.rstrip('.')}” (coast.example)."
    assert "1889" not in ran.report.markdown and told in ran.report.markdown
    assert ran.report.checks.cut == 1


async def test_a_repair_touches_only_what_was_faulty() -> None:
    wrong = LIT.replace("1887", "1889")
    draft = {"statements": [f"{wrong} [E1]", f"{LIT_TOO} [E2]"], "short_answer": []}
    other = {"number": 2, "text": "It is still in use.", "evidence": ["E2"]}
    _, ran = await drafted(draft, repair=lambda _: {"statements": [other]})
    assert LIT_TOO in ran.report.markdown
    assert "It is still in use." not in ran.report.markdown


async def test_a_key_claim_that_was_left_out_comes_back_as_a_quotation() -> None:
    _, ran = await drafted({"statements": [], "short_answer": []})
    [key] = [record for record in ran.evidence if record.key]
    assert f"“{key.sources[0].quote}” [1]" in ran.report.markdown
    assert ran.report.short_answer
    check_markers(ran)


@pytest.mark.requirement("D14")
async def test_the_short_answer_ends_with_a_whole_sentence_within_80_words() -> None:
    long, longer, longest = (
        LIT.replace("was first", "was, " + "at the lighthouse of Harrow Point, " * times + "first")
        for times in (5, 6, 7)
    )
    short = ["1", *(f"{each} [E1]" for each in (long, longer, longest))]
    _, ran = await drafted({"statements": [f"{LIT} [E1]"], "short_answer": short})
    assert words_in(re.sub(r"\[\d+\]", "", ran.report.short_answer)) <= 80
    assert ran.report.short_answer.startswith(f"{LIT} [1] {long} [1]")
    assert ran.report.short_answer.endswith("]")
    check_markers(ran)


@pytest.mark.requirement("D14")
async def test_a_short_answer_of_one_endless_sentence_gives_way_to_a_short_one() -> None:
    long = LIT.replace("was first", "was, " + "at the lighthouse of Harrow Point, " * 14 + "first")
    draft = {"statements": [f"{LIT} [E1]"], "short_answer": [f"{long} [E1]"]}
    _, ran = await drafted(draft)
    assert ran.report.short_answer == f"{LIT} [1]"


@pytest.mark.requirement("D14")
async def test_a_short_answer_is_cited_or_taken_from_the_sections() -> None:
    uncited = "Everybody loves it."
    statements = [f"{LIT} [E1]"] * 12
    _, ran = await drafted({"statements": statements, "short_answer": [uncited]})
    assert ran.report.short_answer == f"{LIT} [1]"
    assert uncited not in ran.report.markdown


@pytest.mark.requirement("D14")
async def test_a_sub_question_stands_in_one_place_only() -> None:
    """One that the model calls unanswered has its section or a line under Not found."""
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {
        **answer,
        "unanswered": ["A1", "A2"],
        "ready": False,
    }
    ran = await world.ask(CHAIN.question)
    headings = re.findall(r"^## (.*)$", ran.report.markdown, re.MULTILINE)
    listed = ran.report.markdown.partition("## Not found")[2].partition("\n## ")[0]
    assert "○ Not settled" in ran.report.markdown
    for aspect in ran.of(Aspect):
        assert (aspect.text in headings) != (f"- {aspect.text}" in listed)


@pytest.mark.requirement("C4", "D14")
async def test_every_answered_sub_question_has_a_section() -> None:
    """Also where one record answers two and the model wrote of it once."""
    parts = (SIMPLE.parts[0], Part("What happened on 14 March 1887?", "March 1887", ("lit on",)))
    script = Script(SIMPLE.question, parts, "ordinary")
    world = harbour(script)
    assert world.model is not None
    world.model.twists["draft"] = lambda _: {"statements": [f"{LIT} [E1]"], "short_answer": []}
    ran = await world.ask(SIMPLE.question)
    assert ran.evidence[0].answers == ("A1", "A2")
    for aspect in ran.of(Aspect):
        assert f"## {aspect.text}\n" in ran.report.markdown
    check_markers(ran)


@pytest.mark.requirement("D14")
async def test_where_nothing_answers_only_the_closest_passages_are_shown() -> None:
    text = "The Harrow Point lighthouse was first lit by hand and burned oil for many years."
    web = Web([page("https://coast.example/", text, "Harrow Point lighthouse")])
    ran = await World(web).ask(SIMPLE.question)
    assert ran.state.quality_score is not None and ran.state.quality_score < 3
    assert "nothing here seems to answer this" in (ran.state.termination_text or "").lower()
    opening = ran.report.markdown.split("\n\n")[1]
    assert opening == f"**{labels_for('en')['lacking']}**" and not ran.report.short_answer
    check_markers(ran)


@pytest.mark.requirement("D14")
async def test_only_searches_that_were_sent_count_as_tried() -> None:
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question, max_searches=2)
    tried = ran.report.markdown.split("Searches tried: ")[1].split(".\n")[0]
    assert sorted(re.findall("“(.+?)”", tried)) == sorted(world.web.searched)
    assert len(world.web.searched) == 2


async def test_a_statement_stands_under_the_sub_question_of_its_evidence() -> None:
    """One that cites nothing stands before the statement that it leads over to, wherever the model
    wrote it.
    """
    world = harbour(CHAIN)
    assert world.model is not None
    connection = "First comes the light itself."

    def mixed(answer: Answer) -> Answer:
        first, *others = answer["statements"]
        return {**answer, "statements": [*others, connection, first]}

    world.model.twists["draft"] = mixed
    ran = await world.ask(CHAIN.question)
    parts = re.split(r"^## ", ran.report.markdown, flags=re.MULTILINE)
    told = {part.partition("\n")[0]: part for part in parts}
    for part, sentence in zip(CHAIN.parts, (DESIGNED, TRAINED, OWNED), strict=True):
        assert sentence in told[part.question]
    assert connection in told[CHAIN.parts[0].question]
    check_markers(ran)


async def test_a_number_in_the_short_answer_stands_for_a_statement() -> None:
    """What is no statement's number is left out."""
    short = ["2", "0", "3", "99", " "]
    _, ran = await drafted(
        {"statements": [f"{LIT} [E1]", f"{LIT_TOO} [E2]"], "short_answer": short}
    )
    assert re.sub(r" \[\d\]", "", ran.report.short_answer) == LIT_TOO


async def test_an_id_alone_stands_for_the_claim_of_its_record() -> None:
    """One of no record is left out."""
    _, ran = await drafted({"statements": ["E2", "[E1]", "E99"], "short_answer": ["1", "3"]})
    claims = {record.id: record.claim for record in ran.evidence}
    assert re.sub(r" \[\d\]", "", ran.report.short_answer) == claims["E2"]
    assert claims["E1"] in ran.report.markdown
    assert ran.report.checks == Checks(statements=3, cited=3, by_code=3, open_points=0, disputes=0)
    check_markers(ran)


async def test_ids_within_a_model_s_sentence_are_no_words_of_the_report() -> None:
    text = LIT.replace(".", " [E1] (E1, E2).")
    _, ran = await drafted({"statements": [text], "short_answer": []})
    assert LIT in ran.report.markdown
    assert not re.search(r"\bE\d", ran.report.markdown)
    check_markers(ran)


@pytest.mark.parametrize("analyst", [SIMPLE, None])
async def test_brackets_of_a_page_are_no_markers(analyst: Script | None) -> None:
    footnoted = LIT.replace(".", ".[3] It is white.[12]")
    web = Web([page("https://coast.example/", footnoted, "Harrow Point lighthouse")])
    ran = await World(web, Oracle(analyst) if analyst else None).ask(SIMPLE.question)
    assert r"\[3\]" in ran.report.markdown
    check_markers(ran)


@pytest.mark.parametrize("analyst", [None, SIMPLE])
async def test_no_word_of_a_page_or_a_person_is_a_mark_of_the_report(
    analyst: Script | None,
) -> None:
    link = "[here](https://bad.example/) ![it](https://bad.example/p.png) <b>"
    text = f"The Harrow Point lighthouse was first lit by __init__ on 14 March 1887 {link}."
    pages = [page("https://coast.example/", text, "Harrow __Point__ <i>")]
    world = World(Web(pages), Oracle(analyst) if analyst else None)
    if world.model is not None:
        world.model.twists["read"] = lambda _: {
            "findings": [finding(text, [1], "A1")], "leads": []
        }  # fmt: skip
    ran = await world.ask(SIMPLE.question)
    for mark in ("__", "here](", "it](", " <b", " <i"):
        assert mark not in ran.report.markdown
    assert "\\_\\_init\\_\\_" in ran.report.markdown


async def test_no_evidence_means_no_report() -> None:
    web = Web([page("https://cheese.example/", "Cheddar is a hard cheese.", "Cheese")])
    ran = await World(web, Oracle(SIMPLE)).ask(SIMPLE.question)
    assert ran.report.markdown == "" and ran.report.citations == ()
    assert ran.state.status == "completed"
    assert ran.state.termination_reason == "nothing_found"
    assert ran.state.termination_text is not None
    assert ran.state.termination_text.startswith("Found nothing that answers this. ")
    assert ran.of(GateResult)


async def test_disputes_are_shown_side_by_side() -> None:
    one, other = (f"The Harrow Point lighthouse was first lit in {y}." for y in (1887, 1889))
    pages = [
        page("https://coast.example/", one, "Harrow Point lighthouse", published="2025-01-02"),
        page("https://rival.example/", other, "Harrow Point lighthouse"),
    ]
    ran = await World(Web(pages), Oracle(SIMPLE)).ask(SIMPLE.question)
    assert "⚠ Sources disagree" in ran.report.markdown
    box = ran.report.markdown.split("> **⚠ Sources disagree:**\n")[1].split("\n\n")[0]
    first, second = (
        f"**coast.example** (January 2025) – {one} [1]",
        f"**rival.example** – {other} [2]",
    )
    assert box.splitlines() == [">", f"> - {first}", f"> - {second}"]
    check_markers(ran)


async def test_what_was_not_found_is_named_with_the_searches_tried() -> None:
    pages = [p for p in harbour().web.pages.values() if "calder" not in p.url]
    ran = await World(Web(pages), Oracle(CHAIN)).ask(CHAIN.question)
    missing = ran.report.markdown.split("## Not found\n\n")[1].split("\n\n")
    assert missing[0] == "- Who owned the place of training?"
    assert "“Calder foundry”" in missing[1]
    assert DESIGNED in ran.report.markdown
    check_markers(ran)


async def test_pages_that_failed_are_listed_with_the_reason() -> None:
    world = harbour(SIMPLE)
    world.web.down.add("https://register.example/harrow")
    ran = await world.ask(SIMPLE.question)
    failed = ran.report.markdown.split("### Refused or failed\n\n")[1]
    assert "register.example" in failed and "The site did not answer." in failed


@pytest.mark.requirement("D14")
async def test_a_draft_that_cannot_be_read_leaves_a_report_by_code_that_says_so() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.raw["draft"] = lambda _: "I would rather not."
    ran = await world.ask(SIMPLE.question)
    assert ran.usage.fallbacks == {"draft": {"invalid answer": 1}}
    assert LIT in ran.report.markdown
    assert "1 step done by code, since the model failed" in ran.report.markdown
    check_markers(ran)


@pytest.mark.requirement("E13")
@pytest.mark.parametrize(
    "world, question, knobs, reason, said",
    [
        (harbour(CHAIN), CHAIN.question, {"max_searches": 3}, "budget_searches",
         "Stopped at the limit of 3 searches: 1 of 3 answered. 2 questions stay open"),
        (harbour(), SIMPLE.question, {}, "no_novelty", "Stopped: round 2 read "),
    ],
)  # fmt: skip
async def test_a_report_says_that_a_budget_or_an_early_end_cut_research_short(
    world: World,
    question: str,
    knobs: dict[str, int],
    reason: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shown_passages, "answer_probability", lambda *_: 0.5)
    ran = await world.ask(question, **knobs)
    assert ran.state.termination_reason == reason
    assert said in ran.report.markdown.split("\n\n")[2]


@pytest.mark.requirement("F13")
async def test_each_cited_page_stands_among_the_sources_with_its_date() -> None:
    dated = page("https://coast.example/", LIT, "Harrow Point light", published="2025-01-02")
    ran = await World(Web([dated]), Oracle(SIMPLE)).ask(SIMPLE.question)
    line = "- [1] Harrow Point light, coast.example, 2 January 2025: <https://coast.example/>"
    assert line in ran.report.markdown.split("\n")


@pytest.mark.requirement("C16")
async def test_a_stored_copy_stands_among_the_sources_as_one() -> None:
    note = "The site took too long to answer; the stored copy of 3 October 2026 was read."
    copy = page("https://coast.example/", LIT, "Harrow Point light", note=note)
    ran = await World(Web([copy]), Oracle(SIMPLE)).ask(SIMPLE.question)
    line = f"- [1] Harrow Point light, coast.example: <https://coast.example/>: {note}"
    assert line in ran.report.markdown.split("\n")
    assert [(source.status, source.reason) for source in ran.of(Source)] == [("cited", note)]


@pytest.mark.requirement("D14")
async def test_no_internal_words_reach_the_report() -> None:
    for script in (SIMPLE, CHAIN, None):
        world = harbour(script)
        ran = await world.ask((script or CHAIN).question)
        assert not re.search(r"\b[AEG]\d+\b|gate|threshold|score|prompt", ran.report.markdown)


@pytest.mark.requirement("D14")
@pytest.mark.parametrize(
    "sites, standing",
    [
        (("coast",), "○ Preliminary: 1 site only"),
        (("coast", "register"), "● Well established: confirmed by 2 sites"),
    ],
)
async def test_what_several_sources_confirm_is_told_from_what_one_says(
    sites: tuple[str, ...], standing: str
) -> None:
    pages = [page(f"https://{site}.example/", f"Log {site}. {LIT}", "Harrow") for site in sites]
    ran = await World(Web(pages), Oracle(SIMPLE)).ask(SIMPLE.question)
    assert f"## {SIMPLE.question}\n\n*{standing}*" in ran.report.markdown
    check_markers(ran)


# --- notes that answer nothing ------------------------------------------------------------------


@pytest.mark.requirement("D14")
async def test_notes_that_answer_nothing_are_no_short_answer() -> None:
    """What the model notes is on the topic; its own judgement leaves the question open."""
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {**answer, "unanswered": ["A1"], "ready": False}
    ran = await world.ask(SIMPLE.question, adaptive_max_depth=1)
    _, opening, *_ = ran.report.markdown.split("\n\n")
    assert opening.startswith("**Not found.** No passage answers this directly; the closest: ")
    assert "Short answer" not in ran.report.markdown and not ran.report.short_answer


async def test_the_short_answer_rests_on_answered_sub_questions_alone() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {**answer, "unanswered": ["A1"]}
    ran = await world.ask(CHAIN.question)
    assert "## Who designed" in ran.report.markdown
    assert ran.report.short_answer and "designed" not in ran.report.short_answer


@pytest.mark.parametrize(("form", "is_besides"), [("", True), ("memo", False)])
async def test_a_form_with_a_length_of_its_own_includes_the_short_answer(
    form: str, is_besides: bool
) -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["intake"] = lambda answer: answer | {"form": form}
    await world.ask(CHAIN.question)
    [draft] = [each for each in world.model.requests if each.task == "draft"][-1:]
    assert ("of statements alone" in draft.prompt) is is_besides
