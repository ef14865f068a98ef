"""The report is seen growing while a model writes it; nothing of that is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.llm_tasks.prompting.stream_draft import (
    EVERY_SECONDS,
    DraftStream,
    sentences_in,
)
from research.engine.ports import ModelAnswer, ModelRequest
from research.engine.records import (
    Complexity,
    Drafted,
    DraftedSentence,
    Plan,
    PlannedAspect,
    Record,
)
from research.engine.run import Question, Run
from tests.engine.llm_tasks.prompting.test_ask import Parrot, journal_of
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    TODAY,
    Clock,
    Oracle,
    Ran,
    Script,
    Web,
    World,
    harbour_pages,
    ledger,
    page,
    quoted,
)

LIGHT = page("https://coast.example/", "It was lit in 1887. Edda Marlow built it.")
WRITTEN = {
    "statements": [
        'The "old" light\u00a0burned\ncoal. [E1, E2]',
        "It is still in use (E1, E9).",
        "So much for the light.",
        "E2",
        "Nobody knows it [E9].",
    ],
    "short_answer": ["1", "It was lit in 1887 [E1]."],
}
SENTENCES = [
    DraftedSentence('The "old" light burned coal.', "When was it lit?"),
    DraftedSentence("It is still in use.", "When was it lit?"),
    DraftedSentence("So much for the light.", "When was it lit?"),
    DraftedSentence("Edda Marlow built it.", "Who built it?"),
    DraftedSentence("Nobody knows it.", "Who built it?"),
]


@pytest.fixture
def known() -> Ledger:
    """One record on each of two sub-questions."""
    made, _ = ledger("When was it lit?", "Who built it?")
    for aspect, claim in (("A1", "It was lit in 1887."), ("A2", "Edda Marlow built it.")):
        made.book.add(Finding(claim, aspect, quoted(LIGHT, claim), 1.0), 1)
    return made


@pytest.mark.parametrize("text", [json.dumps(WRITTEN), json.dumps(WRITTEN, indent=2)])
def test_wherever_an_answer_is_cut_off_its_whole_sentences_are_read(
    text: str, known: Ledger
) -> None:
    """The short answer is not shown: it comes last, and the checked report takes its place."""
    counts = []
    for end in range(len(text) + 1):
        found = list(sentences_in(text[:end], known))
        assert found == SENTENCES[: len(found)]
        counts.append(len(found))
    assert counts == sorted(counts) and counts[-1] == len(SENTENCES)


def test_a_sentence_is_shown_under_the_sub_question_that_it_is_put_under(known: Ledger) -> None:
    written = ["A2: Edda built it. [E2]", "It was lit in 1887. [E1]", "A1: It is lit. [E1]"]
    found = sentences_in(json.dumps({"statements": written}), known)
    assert [(each.text, each.about) for each in found] == [
        ("Edda built it.", "Who built it?"),
        ("It was lit in 1887.", "Who built it?"),
        ("It is lit.", "When was it lit?"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I will now write the report.",
        '<think>{"text": "Perhaps this?"}',
        '{"statements": ["  ", "E9"]}',
        r'{"statements": [{"text": "bad \escape"}]}',
        r'{"statements": [{"text"',
        r'{"text \"text\": \"within',
    ],
)
def test_what_is_no_sentence_is_not_shown(text: str, known: Ledger) -> None:
    assert list(sentences_in(text, known)) == []


def test_characters_that_no_store_can_keep_are_dropped(known: Ledger) -> None:
    text = r'{"text": "o\u0000ld \ud800"}'
    assert list(sentences_in(text, known)) == [DraftedSentence("old ?")]


class Writer(Oracle):
    """An oracle that can be followed: `pace` seconds of the clock for each character."""

    def __init__(self, script: Script, clock: Clock, pace: float = 0.01) -> None:
        super().__init__(script)
        self.clock = clock
        self.pace = pace

    async def stream(self, request: ModelRequest, hear: Callable[[str], None]) -> ModelAnswer:
        answer = await self.complete(request)
        for end in range(1, len(answer.text) + 1):
            self.clock.seconds += self.pace
            hear(answer.text[:end])
        return answer


async def followed(script: Script, pace: float = 0.01) -> tuple[World, Ran]:
    clock = Clock()
    world = World(Web(harbour_pages()), Writer(script, clock, pace), clock)
    return world, await world.ask(script.question)


def drafts(ran: Ran) -> list[tuple[str, ...]]:
    return [
        tuple(said.text for said in record.sentences)
        for record in ran.records
        if isinstance(record, Drafted)
    ]


async def test_the_draft_is_told_while_it_grows_and_whole_at_its_end() -> None:
    _, ran = await followed(CHAIN)
    told = drafts(ran)
    assert len(told) > 2
    for shorter, longer in pairwise(told):
        assert longer[: len(shorter)] == shorter and len(longer) > len(shorter)
    assert all(sentence in ran.report.markdown for sentence in told[-1])


async def test_it_is_told_at_most_once_a_second_and_once_at_the_end() -> None:
    world, ran = await followed(CHAIN, pace=0.001)
    [entry] = [e for e in world.store.entries.values() if e.place.endswith("/draft")]
    seconds = len(entry.answer["text"]) * 0.001
    assert len(drafts(ran)) <= seconds / EVERY_SECONDS + 1


async def test_nothing_of_it_is_recorded_or_told_again() -> None:
    world, ran = await followed(SIMPLE)
    plain = World(Web(harbour_pages()), Oracle(SIMPLE))
    await plain.ask(SIMPLE.question)
    assert drafts(ran)
    assert [e.place for e in world.store.entries.values()] == [
        e.place for e in plain.store.entries.values()
    ]
    assert drafts(await world.replay(SIMPLE.question)) == []


def test_the_answers_of_a_small_model_add_up_and_a_failed_one_is_taken_back() -> None:
    """One answer a sub-question, none of which names it."""
    model = Parrot()
    journal, told = journal_of(model), list[Record]()
    run = Run(Question(CHAIN.question, TODAY), journal.meter.config, journal)
    run.start(Plan("", Complexity.SIMPLE, "en", (PlannedAspect("When?", "when"),)))
    journal.emit = told.append  # type: ignore[method-assign]
    growing = DraftStream(run)
    for about, text in (("When?", "In 1887."), ("Why?", "Nonsense"), ("Where?", "At the cape.")):
        growing.go_on(about)
        growing.hear(json.dumps({"statements": [{"text": text, "evidence": ["E1"]}]}))
        if text == "Nonsense":
            growing.hear("")
    growing.tell()
    assert [record for record in told if isinstance(record, Drafted)][-1].sentences == (
        DraftedSentence("In 1887.", "When?"),
        DraftedSentence("At the cape.", "Where?"),
    )
