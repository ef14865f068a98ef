"""A draft's statements that code can't vouch for: verified, or quoted; through whole runs."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.ports import ModelFailedError
from research.engine.records import Evidence, GateResult, Qualification, Source, Stage
from research.engine.report.checking.statement_check import check_statement
from research.engine.report.draft import Statement
from research.engine.verifier.pairs import CitedQuote, Pair
from research.engine.verifier.planting import plant_canaries, shown_pair
from tests.engine.scripted import (
    LIT,
    LIT_TOO,
    QUALIFIED,
    SIMPLE,
    Answer,
    Oracle,
    Ran,
    World,
    harbour,
    ledger,
    page,
    quoted,
    run,
)

TRUE = "In 1887, on 14 March, Harrow Point lighthouse was lit first."
FALSE = "On 14 March 1887 the village opened the lighthouse of Harrow Point with a merry feast."
GOOD, BAD = f"{TRUE} [E1]", f"{FALSE} [E1]"


async def drafted(
    *statements: str,
    verifier: Qualification | None = QUALIFIED,
    verify: Any = None,
    fault: ModelFailedError | None = None,
    **knobs: Any,
) -> tuple[Oracle, Ran, World]:
    world = harbour(SIMPLE)
    assert world.model is not None
    draft: Answer = {"statements": list(statements), "short_answer": ["1"]}
    world.model.twists["draft"] = lambda _: draft
    if verify is not None:
        world.model.twists["verify"] = verify
    if fault is not None:
        world.model.faults["verify"] = [fault]
    ran = await run(
        SIMPLE.question, world.tools(), world.store, world.analyst, verifier=verifier, **knobs
    )
    return world.model, ran, world


def always(verdict: str) -> Any:
    def twist(answer: Answer) -> Answer:
        every = sorted(number for numbers in answer.values() for number in numbers)
        return {"carried": [], "more": [], "other": [], "faults": [], verdict: every}

    return twist


async def test_what_the_verifier_carries_stays_and_what_it_does_not_becomes_a_quotation() -> None:
    model, ran, _ = await drafted(GOOD, BAD)
    assert model.tasks.count("verify") == 1
    assert TRUE in ran.report.markdown and FALSE not in ran.report.markdown
    assert f"“{LIT}”" not in ran.report.markdown, "it says what stands already"
    checks = ran.report.checks
    assert (checks.verifier, checks.quoted_instead, checks.cut) == ("believed", 1, 0)
    assert checks.by_model == 2, "in the short answer and in its section"
    assert (checks.planted, checks.planted_found) == (6, 6)
    assert "which found 6 of 6 errors planted to test it" in ran.report.markdown


async def test_a_fault_that_only_the_second_look_finds_makes_a_quotation() -> None:
    def doubtful(answer: Answer) -> Answer:
        shown = sum(map(len, answer.values()))
        return answer | {"faults": [2 * shown + 1 - number for number in answer["carried"]]}

    model, ran, _ = await drafted(GOOD, verify=doubtful)
    asked = next(each.prompt for each in model.requests if each.task == "verify")
    assert asked.partition("# ONCE MORE")[2].count(TRUE) == 1
    assert TRUE not in ran.report.markdown and f"“{LIT}”" in ran.report.markdown
    assert ran.report.checks.verifier == "believed", "the canaries are judged by the first look"


NEAR = "The Harrow Point lighthouse was lit on 14 March 1887."
MISSED = Qualification("v", 80, 3, 80, 0)


async def test_a_verifier_that_missed_hardly_anything_is_believed_on_details() -> None:
    _, ran, _ = await drafted(f"{NEAR} [E1]", verifier=Qualification("v", 80, 2, 80, 0))
    assert NEAR in ran.report.markdown and f"“{LIT}”" not in ran.report.markdown
    assert ran.report.checks.verifier == "believed"


async def test_what_nearly_has_its_quote_s_words_becomes_a_quotation_even_if_carried() -> None:
    model, ran, _ = await drafted(f"{NEAR} [E1]", BAD, verifier=MISSED)
    asked = next(each.prompt for each in model.requests if each.task == "verify")
    assert NEAR in asked, "a canary would stand out without it"
    assert NEAR not in ran.report.markdown and f"“{LIT}”" in ran.report.markdown
    gate = next(g for g in ran.of(GateResult) if g.gate == "draft")
    [stood] = [c for c in gate.criteria if c.name == "share of statements that stood the check"]
    assert stood.value == 0.5, "only the other one was at fault"


async def test_nobody_is_asked_about_statements_that_are_quoted_anyway() -> None:
    model, ran, _ = await drafted(f"{NEAR} [E1]", verifier=MISSED)
    assert "verify" not in model.tasks
    assert NEAR not in ran.report.markdown and f"“{LIT}”" in ran.report.markdown


async def test_where_code_vouches_for_all_nobody_is_asked() -> None:
    model, ran, _ = await drafted(f"{LIT} [E1]", f"{LIT_TOO} [E2]")
    assert "verify" not in model.tasks
    assert (ran.report.checks.verifier, ran.report.checks.by_code) == ("", 3)
    assert "planted" not in ran.report.markdown


@pytest.mark.parametrize("verdict", ["carried", "more"])
async def test_a_verifier_that_says_the_same_of_all_is_disbelieved(verdict: str) -> None:
    _, ran, _ = await drafted(GOOD, BAD, verify=always(verdict))
    assert TRUE not in ran.report.markdown and FALSE not in ran.report.markdown
    assert f"“{LIT}”" in ran.report.markdown
    assert (ran.report.checks.verifier, ran.report.checks.by_model) == ("disbelieved", 0)


@pytest.mark.parametrize("errors", [{"missed": 17}, {"refused": 17}])
async def test_a_model_that_is_not_qualified_is_not_asked(errors: dict[str, int]) -> None:
    counts = {"false_pairs": 80, "missed": 0, "faithful_pairs": 80, "refused": 0, **errors}
    model, ran, _ = await drafted(GOOD, verifier=Qualification("v", **counts))
    assert "verify" not in model.tasks
    assert TRUE not in ran.report.markdown and f"“{LIT}”" in ran.report.markdown
    assert ran.report.checks.verifier == "unqualified"
    assert ran.report.markdown.count("Short answer") == 1, "it is answered, by a quotation"


async def test_a_verifier_that_is_switched_off_is_not_asked() -> None:
    model, ran, _ = await drafted(GOOD, enable_verifier=False)
    assert "verify" not in model.tasks
    assert (ran.report.checks.verifier, TRUE in ran.report.markdown) == ("off", False)


async def test_a_small_model_is_neither_qualified_nor_asked() -> None:
    model, ran, _ = await drafted(GOOD, verifier=None, model_profile="small")
    assert "verify" not in model.tasks
    assert ran.report.checks.verifier in ("", "off")


async def test_a_missing_verdict_means_not_carried() -> None:
    def without_first(answer: Answer) -> Answer:
        return {key: [n for n in numbers if n not in lost] for key, numbers in answer.items()}

    model, _, _ = await drafted(GOOD)
    prompt = next(r.prompt for r in model.requests if r.task == "verify")
    lost = {int(line[1 : line.index("]")]) for line in prompt.splitlines() if TRUE in line}
    assert len(lost) == 2, "once for each look"
    _, ran, _ = await drafted(GOOD, verify=without_first)
    assert ran.report.checks.verifier == "believed"
    assert TRUE not in ran.report.markdown


async def test_a_verifier_that_fails_leaves_quotations() -> None:
    failure = ModelFailedError("The model's server is gone.", permanent=True)
    _, ran, _ = await drafted(GOOD, fault=failure)
    assert ran.report.checks.verifier == "failed"
    assert TRUE not in ran.report.markdown and f"“{LIT}”" in ran.report.markdown
    assert ran.usage.fallbacks["verify"] == {failure.reason: 1}


async def test_the_first_run_of_a_model_qualifies_it_and_says_so() -> None:
    model, ran, world = await drafted(GOOD, verifier=None)
    assert model.tasks.count("verify") == 8 + 1
    assert ran.only(Qualification).missed == 0
    assert ran.report.checks.verifier == "believed" and TRUE in ran.report.markdown
    again = await world.replay(SIMPLE.question)
    assert again.report.markdown == ran.report.markdown
    assert again.usage.llm_calls == ran.usage.llm_calls


async def test_a_first_run_is_believed_on_details_like_later_ones() -> None:
    """How the model does is known before code compares its statements with their quotes."""
    _, ran, world = await drafted(f"{NEAR} [E1]", verifier=None)
    assert NEAR in ran.report.markdown and f"“{LIT}”" not in ran.report.markdown
    again = await world.replay(SIMPLE.question)
    assert again.report.markdown == ran.report.markdown


async def test_a_run_that_ended_at_its_searches_has_its_model_tested_all_the_same() -> None:
    model, ran, _ = await drafted(GOOD, verifier=None, max_searches=1)
    assert ran.report.checks.verifier == "believed" and TRUE in ran.report.markdown
    assert model.tasks.count("verify") == 8 + 1


async def test_a_budget_without_room_for_a_qualification_leaves_quotations() -> None:
    model, ran, _ = await drafted(GOOD, verifier=None, max_llm_calls=12)
    assert "verify" not in model.tasks
    assert ran.report.checks.verifier == "unqualified" and TRUE not in ran.report.markdown


async def test_what_is_known_of_the_verifier_is_frozen_in_the_run() -> None:
    """A replay decides alike, whatever is stored by then."""
    _, ran, world = await drafted(GOOD, BAD)
    bad = Qualification("v", 80, 80, 80, 0)
    again = await run(SIMPLE.question, None, world.store, world.analyst, verifier=bad)
    assert again.report.markdown == ran.report.markdown and not again.journal.divergences


async def test_the_order_of_a_call_does_not_tell_statements_from_canaries() -> None:
    places = set()
    for statement in (TRUE, f"Indeed, {TRUE}", TRUE.replace("lit", "duly lit"), f"So {TRUE}"):
        model, _, _ = await drafted(f"{statement} [E1]")
        prompt = next(r.prompt for r in model.requests if r.task == "verify")
        lines = [line for line in prompt.splitlines() if line.startswith("[")]
        places.add(next(at for at, line in enumerate(lines) if statement in line))
    assert len(places) > 1


async def test_statements_that_the_verifier_refuses_count_for_gate_3() -> None:
    """Three of four statements are refused: the draft goes back to research once."""
    false = [
        "A noisy village crowd opened Harrow Point lighthouse on 14 March 1887. [E1]",
        "On 14 March 1887 a rich merchant paid for lighthouse oil at Harrow Point. [E1]",
        "The county council sent its lamp to Harrow Point lighthouse on 14 March 1887. [E1]",
    ]
    _, ran, _ = await drafted(f"{LIT} [E1]", *false)
    gate = next(g for g in ran.of(GateResult) if g.gate == "draft")
    [stood] = [c for c in gate.criteria if c.name == "share of statements that stood the check"]
    assert (stood.value, gate.decision) == (0.25, "retry")
    assert Stage.DEEP_RESEARCH in {r.stage for r in ran.rounds} or len(ran.rounds) >= 1


async def test_an_assessment_knows_nothing_of_verdicts() -> None:
    model, _, _ = await drafted(GOOD, BAD)
    other, _, _ = await drafted(GOOD, BAD, enable_verifier=False)
    assert [r.prompt for r in model.requests if r.task == "assess"] == [
        r.prompt for r in other.requests if r.task == "assess"
    ]


def test_the_verifier_sees_the_quotes_that_have_the_words_of_a_statement() -> None:
    """Five sites have a word of it each, the last two the same one."""
    known, _ = ledger("How does the fund work?")
    words = ("bridge", "harbour", "mill", "school", "school")
    pages = [page(f"https://{n}.example/", f"Fund {word}.") for n, word in enumerate(words)]
    sources = tuple(quoted(read, f"Fund {word}.") for read, word in zip(pages, words, strict=True))
    known.book.records["E1"] = Evidence("E1", "Fund bridge.", "A1", 1, sources, 0.9)
    pair = shown_pair(Statement("Fund bridge harbour mill school.", ("E1",)), known)
    assert [each.text for each in pair.quotes] == [f"Fund {word}." for word in words[:4]]


@pytest.mark.parametrize(("form", "is_shown"), [(Form.COMPUTED, False), (Form.EDITED, True)])
def test_the_verifier_sees_the_quote_that_has_the_name_of_a_statement(
    form: Form, is_shown: bool
) -> None:
    """Four other quotes share two of its words each, this one only the name."""
    known, _ = ledger("Who pays for it?")
    texts = [
        "Bridge and harbour.",
        "Mill and school.",
        "Tower and lamp.",
        "Road and gate.",
        "Ansel.",
    ]
    pages = [page(f"https://{n}.example/", text) for n, text in enumerate(texts)]
    sources = tuple(quoted(read, read.text) for read in pages)
    known.book.records["E1"] = Evidence("E1", "All is paid for.", "A1", 1, sources, 0.9)
    known.began = form
    paid = "The bridge, harbour, mill, school, tower, lamp, road and gate are paid for by Ansel."
    quotes = [each.text for each in shown_pair(Statement(paid, ("E1",)), known).quotes]
    assert ("Ansel." in quotes) is is_shown and len(quotes) == 4


def test_a_figure_is_shown_beyond_the_most_quotes() -> None:
    known, _ = ledger("What is counted?")
    texts = [f"There are {number} of them." for number in (12, 34, 56, 78, 90)]
    pages = [page(f"https://{n}.example/", text) for n, text in enumerate(texts)]
    sources = tuple(quoted(read, read.text) for read in pages)
    known.book.records["E1"] = Evidence("E1", "Much is counted.", "A1", 1, sources, 0.9)
    said = Statement("There are 12, 34, 56, 78 or 90 of them.", ("E1",))
    assert {each.text for each in shown_pair(said, known).quotes} == {*texts}


@pytest.mark.parametrize(
    ("title", "domain", "site", "form", "source"),
    [
        ("Signs", "roads.example", "", Form.EDITED, "Signs, roads.example"),
        ("Signs", "roads.example", "Roads", Form.EDITED, "Signs, roads.example"),
        ("Signs", "r.example", "Roads Office", Form.EDITED, "Signs, r.example, Roads Office"),
        ("Signs - Roads Office", "r.example", "Roads Office", Form.EDITED,
         "Signs - Roads Office, r.example"),
        ("Signs", "roads.example", "Roads Office", Form.COMPUTED, "Signs"),
    ],
)  # fmt: skip
def test_the_verifier_sees_the_site_by_which_a_speaker_may_be_named(
    title: str, domain: str, site: str, form: Form, source: str
) -> None:
    text = "The signs were moved to the other side, the Roads Office writes."
    read = replace(page(f"https://{domain}/", text, title=title), site=site)
    known, _ = ledger("What was moved?")
    known.put_page(read)
    known.book.records["E1"] = Evidence("E1", text, "A1", 1, (quoted(read, text),), 0.9)
    known.began = form
    [shown] = shown_pair(Statement(text, ("E1",)), known).quotes
    assert shown.source == source
    [shown] = shown_pair(Statement("The signs were moved.", ("E1",)), known).quotes
    assert shown.source == title, "a statement that names nobody needs no site"


@pytest.mark.parametrize("form, outcome", [(Form.COMPUTED, "refused"), (Form.EDITED, "undecided")])
def test_code_knows_the_site_that_a_statement_names_as_speaker(form: Form, outcome: str) -> None:
    text = "The signs were moved to the other side of all streets in the spring."
    read = page("https://roadsoffice.example/", text, title="Signs")
    known, _ = ledger("What was moved?")
    known.put_page(read)
    known.book.records["E1"] = Evidence("E1", text, "A1", 1, (quoted(read, text),), 0.9)
    known.began = form
    said = Statement(f"The streets, as Roads Office says, differ: {text[:-1].lower()}.", ("E1",))
    assert check_statement(said, known).outcome == outcome
    other = Statement(said.text.replace("Roads Office", "Ruth Ansel"), ("E1",))
    assert check_statement(other, known).outcome == "refused"


@pytest.mark.parametrize(
    "said, source",
    [
        ("In 2013 it was 40 percent.", "t, 2013-05-20"),
        ("It was 40 percent.", "t"),
    ],
)
def test_the_verifier_is_told_the_day_of_a_page_where_a_statement_is_dated(
    said: str, source: str
) -> None:
    claim = "It is 40 percent."
    read = page("https://a.example/", claim, title="t", published="2013-05-20T08:00:00+00:00")
    known, _ = ledger("How much is it?")
    known.book.records["E1"] = Evidence("E1", claim, "A1", 1, (quoted(read, claim),), 0.9)
    [shown] = shown_pair(Statement(said, ("E1",)), known).quotes
    assert shown.source == source


def test_the_source_of_a_quote_does_not_tell_a_canary() -> None:
    """It is named as for a statement: by title and heading, with site or date where they count."""
    plain = "The keeper of tower {} climbs the narrow stair with a lantern after supper."
    text = "\n\n".join(
        [
            "## Stairs",
            *(plain.format(letter) for letter in "abcdefgh"),
            "## Roads",
            "The clerks of the Roads Office move the old signs to the other side of the street.",
            "On 4 May 1911 the ferry carried its last passengers across the wide river.",
        ]
    )
    day = "2013-05-20"
    read = page("https://r.example/", text, title="Signs", published=f"{day}T08:00:00+00:00")
    known, _ = ledger("What was moved?")
    known.put_page(replace(read, site="Roads Office"))
    asked = [Pair(plain.format("z"), (CitedQuote(plain.format("y")),))]
    wanted = {
        "The keeper": "Signs, Stairs",
        "The clerks": "Signs, Roads, r.example, Roads Office",
        "On 4 May": f"Signs, Roads, {day}",
    }
    seen = set()
    for seed in range(20):
        for canary in plant_canaries(known, asked, ResearchConfig(), Random(seed)):
            [quote] = canary.pair.quotes
            begins = next((each for each in wanted if quote.text.startswith(each)), None)
            if begins is not None:
                assert quote.source == wanted[begins]
                seen.add(begins)
    assert seen == {*wanted}


def test_the_verifier_sees_all_quotes_of_a_finding_s_own_page() -> None:
    known, _ = ledger("When does the ferry go?")
    texts = (
        "The ferry view has a row for each trip.",
        "It has the time of the last trip.",
        "Ferry.",
    )
    source = page("https://ferry.example/", "\n\n".join(texts))
    known.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
    first, *others = (quoted(source, text) for text in texts)
    known.book.add(Finding(texts[0], "A1", first, 0.9, (), tuple(others)), 1)
    said = Statement("The view has a row for each trip.", ("E1",))
    assert [each.text for each in shown_pair(said, known).quotes] == [*texts]


@pytest.mark.parametrize("form, shown", [(Form.REPAIRED, 1), (Form.COMPUTED, 2)])
def test_the_verifier_sees_the_quotes_that_have_the_other_words_of_a_finding(
    form: Form, shown: int
) -> None:
    known, _ = ledger("How wide is a lane?")
    texts = ("A lane must be 2.2 metres wide.", "It was 1.4 metres until complaints changed it.")
    pages = [page(f"https://{n}.example/", text) for n, text in enumerate((*texts, texts[0]))]
    sources = tuple(quoted(read, read.text) for read in pages)
    claim = "A lane must be 2.2 metres wide; it was 1.4 metres until complaints."
    known.book.records["E1"] = Evidence("E1", claim, "A1", 1, sources, 0.9)
    known.began = form
    pair = shown_pair(Statement("A lane had to be widened.", ("E1",)), known)
    assert [each.text for each in pair.quotes] == [*texts[:shown]]


def test_the_heads_of_a_page_tell_the_version_of_a_statement() -> None:
    known, _ = ledger("Which release of Lighter keeps the lamps lit?")
    text = "The lamps of the tower no longer go out in storms, as Lighter now prevents."
    source = page("https://lighter.example/", text, "E.13. Release 15.8")
    known.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
    known.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = Statement("In Lighter 15.8 the lamps of the tower no longer go out in storms.", ("E1",))
    assert check_statement(said, known).outcome == "undecided"
    known.began = Form.REPAIRED
    assert check_statement(said, known).outcome == "refused"


def test_a_figure_of_the_question_is_judged_beside_it() -> None:
    asked = "We have 400 boats: when does the ferry go?"
    known, _ = ledger(asked)
    text = "The ferry takes all boats of a harbour at noon."
    source = page("https://ferry.example/", text)
    known.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
    known.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = Statement("The ferry takes all 400 boats of the harbour at noon.", ("E1",))
    assert check_statement(said, known).outcome == "undecided"
    assert CitedQuote(asked, "question") in shown_pair(said, known).quotes
    other = Statement("The ferry takes all 300 boats of the harbour at noon.", ("E1",))
    assert check_statement(other, known).outcome == "refused"
    known.began = Form.REPAIRED
    assert check_statement(said, known).outcome == "refused"
