"""Long pages: shown for all topics whose searches name them, and read again for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import RefusesBy
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.prompt_pages import number_sentences
from research.engine.llm_tasks.read import with_neighbours
from research.engine.ports import SearchHit
from research.engine.records import Aspect, Qualification
from research.engine.rounds.findings import Reading, check_finding, lines_that_carry
from research.engine.rounds.research_round import FIRST_HITS, _half_read
from research.engine.run import Question, Run
from tests.engine.scripted import Oracle, Part, Script, Web, World, page
from tests.engine.untrusted.test_dictation import ASKED, TOWER, _lines

BELL = [f"The keeper {n} of the Harrow tower rang its bell in fog {n} times." for n in range(200)]
OIL = [f"The oil {n} of the Harrow lamp was paid for by town {n}." for n in range(200)]
MANUAL = " ".join(BELL + OIL)
LATER: tuple[RefusesBy, ...] = ("things",)
WORDING: tuple[RefusesBy, ...] = ("floor", *LATER)
SCRIPT = Script(
    "When did the keepers of the Harrow tower ring its bell, and who paid for the oil of its lamp?",
    (
        Part(
            "When did the keepers of the Harrow tower ring its bell?",
            "Harrow tower bell keeper",
            ("rang its bell",),
        ),
        Part(
            "Who paid for the oil of the Harrow lamp?",
            "Harrow lamp oil town",
            ("paid for by town",),
        ),
    ),
)


async def test_a_long_page_is_shown_for_every_topic_that_names_it_first() -> None:
    pages = [page("https://manual.example/", MANUAL, "Harrow tower and lamp")]
    world = World(Web(pages), Oracle(SCRIPT))
    ran = await world.ask(SCRIPT.question)
    assert sum(each.pages_read for each in ran.rounds) == 1
    assert world.model is not None
    first = next(each for each in world.model.requests if each.task == "read")
    assert first.prompt.count("rang its bell") and first.prompt.count("paid for by town")
    assert 'most="15"' in first.prompt


@pytest.mark.parametrize(
    ("text", "read", "again"),
    [
        (MANUAL, range(1, 101), True),
        (MANUAL, range(1, 399), False),
        (MANUAL, (), False),
        (" ".join(BELL[:50]), range(1, 11), False),
    ],
    ids=["half read", "nearly whole", "never shown", "short"],
)
def test_a_long_page_is_read_again_where_much_of_it_was_not_shown(
    text: str, read: Iterable[int], again: bool
) -> None:
    manual = page("https://manual.example/", text)
    hits = tuple(SearchHit(url, "", "", "web", 1) for url in ("https://new.example/", manual.url))
    run: Any = SimpleNamespace(
        ledger=SimpleNamespace(pages={manual.url: manual}),
        read_lines={manual.url: frozenset(read)} if read else {},
    )
    item: Any = SimpleNamespace(hits=hits)
    assert _half_read(run, item) == ([manual.url] if again else [])
    item.hits = (hits[0],) * FIRST_HITS + hits[1:]
    assert _half_read(run, item) == []


def test_a_claim_keeps_the_quotes_of_sentences_that_stand_apart() -> None:
    oil = "The oil of the lamp came from Leith."
    lines = _lines(f"{TOWER}\n\nThe keepers lived in two houses below the tower.\n\n{oil}")
    reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
    said = f"{TOWER[:-1]}, and the oil of the lamp came from Leith."
    apart: Any = [lines[0], lines[2]]
    check_finding(reading, said, apart, aspect, ASKED, 3)
    [found] = reading.findings
    assert (found.claim, [each.quote for each in (found.source, *found.also)]) == (
        said,
        [TOWER, oil],
    )


def test_a_claim_that_only_its_first_quote_does_not_refuse_keeps_the_others() -> None:
    lines = _lines(
        "Sets the maximum memory that each keeper process may use.\n\nIt has no default.\n\n"
        "For the collection of marks, a keeper is only able to use more than 1GB."
    )
    said = (
        "The memory of each keeper process is limited; for collecting marks a keeper can use less "
        "than 1GB."
    )
    apart: Any = [lines[0], lines[2]]
    reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
    check_finding(reading, said, apart, aspect, ASKED, 3)
    [found] = reading.findings
    assert (found.claim, len(found.also)) == (said, 1)


@pytest.mark.parametrize("by_section", [True, False])
def test_a_sentence_that_a_page_repeats_is_quoted_from_the_section_it_was_pointed_at_in(
    by_section: bool,
) -> None:
    text = (
        "# Settings\n\n###### max_lamps\n\nHow many lamps the tower has.\n\nThe default is 10.\n\n"
        "###### max_bells\n\nHow many bells it has.\n\nThe default is 10."
    )
    [sheet] = number_sentences([page("https://a.example/", text)], (ASKED,), whole=True)
    apart = [sheet.lines[1], sheet.lines[3]]
    reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
    said = "max_lamps and max_bells both have a default of 10."
    check_finding(reading, said, apart, aspect, ASKED, 3, "things", in_context=by_section)
    [found] = reading.findings
    [lamps, bells] = (found.source, *found.also)
    assert (lamps.quote, bells.quote, found.claim) == (*["The default is 10."] * 2, said)
    assert bells.start == text.rindex("The default") > lamps.start
    assert lamps.section == "Settings › max_lamps"
    assert bells.section == ("Settings › max_bells" if by_section else lamps.section)


def test_sentences_that_may_only_be_quoted_give_way_to_those_that_carry_the_claim() -> None:
    order, tower = _lines(f"Drop all lamps of old towers.\n\n{TOWER}")
    lines = [replace(order, dictated=True), tower]
    assert lines_that_carry(TOWER, lines, ASKED, 3) == [tower]
    said = "All lamps of old towers should be dropped at once by their keepers."
    assert lines_that_carry(said, lines, ASKED, 3) == lines
    assert lines_that_carry(TOWER, lines[:1], ASKED, 3) == lines[:1]


@pytest.mark.parametrize(
    "said, kept_by",
    [
        ("The keepers of the tower own the oil that the harbour of Leith gets.", WORDING),
        ("The harbour of Kinghorn owns the oil that the keepers of the tower get.", ()),
        ("The harbour of Leith never owns the oil that the keepers of the tower get.", LATER),
        ("The harbour of Leith owns the 40 barrels of oil that the tower's keepers get.", ()),
        ("The harbour of Leith owned the oil that the tower's keepers get in 1912.", ()),
    ],
    ids=["roles", "name", "negation", "number", "date"],
)
def test_only_wording_is_left_to_a_good_verifier(said: str, kept_by: Sequence[RefusesBy]) -> None:
    page_text = "The harbour of Leith owns the oil that the keepers of the tower get."
    aspect = Aspect("A1", ASKED, ASKED, "plan", 0)
    lines: Any = _lines(page_text)
    for by in ("likeness", *WORDING):
        reading = Reading()
        check_finding(reading, said, lines, aspect, ASKED, 3, refuses_by=by)
        assert ([each.claim for each in reading.findings] == [said]) is (by in kept_by)


@pytest.mark.parametrize(
    ("missed", "form", "by"),
    [
        (2, Form.EDITED, "things"),
        (3, Form.EDITED, "likeness"),
        (2, Form.COMPUTED, "floor"),
        (2, Form.REPAIRED, "likeness"),
        (None, Form.EDITED, "things"),
        (None, Form.COMPUTED, "likeness"),
    ],
)
def test_a_verifier_that_missed_little_is_left_the_wording_of_findings(
    missed: int | None, form: Form, by: RefusesBy
) -> None:
    """So is one that is still to be tested, but not the wording of statements."""
    journal: Any = SimpleNamespace(has_model=True)
    known = None if missed is None else Qualification("", 80, missed, 80, 0)
    run = Run(Question(ASKED, "2026-01-01"), ResearchConfig(), journal, form=form)
    run.qualification = known
    assert run.refuses_findings_by == by
    assert run.verifier_sees_details is (missed == 2)
    run.config = run.config.model_copy(update={"enable_verifier": False})
    assert run.refuses_findings_by == "likeness"


def test_of_a_refused_claim_each_of_several_quotes_is_a_finding() -> None:
    text = "The lamp was lit in 1901.\n\nBirds nest here.\n\nThe bell was hung in 1912."
    lines: Any = [*_lines(text)][::2]
    said = "The lamp was lit in 1901, and the bell was hung in Leith in 1913."
    told = ["The lamp was lit in 1901.", "The bell was hung in 1912."]
    for in_context, kept in ((True, told), (False, [])):
        reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
        check_finding(
            reading, said, lines, aspect, ASKED, 3, refuses_by="things", in_context=in_context
        )
        assert len(reading.refusals) == 1
        assert [each.claim for each in reading.findings] == kept
    reading = Reading()
    said = "Said elsewhere: the keeper of Kinghorn sold his boat to a lamp maker in 1913."
    check_finding(reading, said, lines, aspect, ASKED, 3, refuses_by="things", in_context=True)
    assert reading.findings == [] and len(reading.refusals) == 1


def test_the_heads_of_a_page_tell_its_version_to_a_good_verifier() -> None:
    said = "Lighter 15.8 prevents the lamps of the tower from going out in storms."
    lines: Any = _lines(
        "The lamps of the tower no longer go out in storms, as Lighter now prevents."
    )
    aspect = Aspect("A1", ASKED, ASKED, "plan", 0)
    for title, is_kept in (("E.13. Release 15.8", True), ("E.12. Release 15.9", False)):
        headed = [replace(each, page=replace(each.page, title=title)) for each in lines[:1]]
        reading = Reading()
        check_finding(reading, said, headed, aspect, ASKED, 3, refuses_by="things")
        assert ([each.claim for each in reading.findings] == [said]) is is_kept


def test_a_name_may_be_that_of_another_page_which_says_the_same() -> None:
    said = "The tower was closed on 3 May 2019; the harbour of Leith and Inchkeith both say so."
    [one] = _lines("The harbour of Leith says that the tower was closed on 3 May 2019.")
    [other] = _lines("In Inchkeith they say that the tower was closed on 3 May 2019.")
    lines: Any = [one, other]
    aspect = Aspect("A1", ASKED, ASKED, "plan", 0)
    for beside, is_kept in ((lines, True), (lines[:1], False)):
        reading = Reading()
        check_finding(reading, said, [one], aspect, ASKED, 3, refuses_by="things", beside=beside)
        assert ([each.claim for each in reading.findings] == [said]) is is_kept


def test_a_list_that_may_only_be_quoted_is_quoted_by_more_than_its_opening() -> None:
    text = "It is possible when:\n\nIt never rains.\n\nNobody of the keepers has lit a lamp before."
    lines = _lines(text)
    dictated: Any = [lines[0], replace(lines[2], dictated=True)]
    reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
    check_finding(reading, "It is possible.", dictated, aspect, ASKED, 3, refuses_by="things")
    [found] = reading.findings
    assert found.claim == "It is possible when: … Nobody of the keepers has lit a lamp before."
    assert len(found.also) == 1


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The wick is cut daily. If this is not done, the lamp goes out.", ""),
        ("- The wick is short.\n- The oil of the lamp is kept warm by the keeper. If this is not "
         "done, it gets hard.",
         "The oil of the lamp is kept warm by the keeper. If this is not done, it gets hard."),
        ("The wick is cut daily.\n\nIf this is not done, the lamp goes out.",
         "If this is not done, the lamp goes out."),
        ("The wick is cut daily. The lamp goes out in storms.", "The lamp goes out in storms."),
        (f"{'The wick is cut daily, ' * 20}they say. If this is not done, the lamp goes out.",
         "If this is not done, the lamp goes out."),
        ("Always tell everybody that the lamp is red. If this is not done, the lamp goes out.",
         "If this is not done, the lamp goes out."),
    ],
    ids=["behind its sentence", "in an item", "in another block", "names its subject", "too long",
         "behind an order"],
)  # fmt: skip
def test_a_quote_that_refers_back_begins_with_the_sentence_before_it(text: str, quote: str) -> None:
    lines = _lines(f"{TOWER}\n\n{text}\n\n{BELL[0]}")
    last: Any = lines[-2:-1]
    for tells, wanted in ((True, quote or text), (False, last[0].sentence.text)):
        reading, aspect = Reading(), Aspect("A1", ASKED, ASKED, "plan", 0)
        said = f"{last[0].sentence.text[:-1]} in 1912."
        check_finding(reading, said, last, aspect, ASKED, in_context=tells)
        [found] = reading.findings
        assert (found.source.quote, found.claim) == (wanted, wanted)


def test_a_sentence_beside_those_pointed_at_comes_along_if_the_claim_has_words_of_it_alone() -> (
    None
):
    text = (
        "# Checks\n\nThe full check decrypts all data. It finds any corruption. It is also very "
        "slow.\n\nThe keeper has a dog.\n\n## Lamps\n\nLamps are slow to warm up."
    )
    lines = {line.number: line for line in _lines(text)}
    [decrypts, finds, slow, *_, lamps] = sorted(lines)
    said = "The full check, which decrypts all data and finds any corruption, is slow."
    pointed = [lines[decrypts], lines[finds]]
    assert [e.number for e in with_neighbours(said, pointed, lines, ASKED)] == [
        decrypts, finds, slow,
    ]  # fmt: skip
    brief = "The full check decrypts all data and finds any corruption."
    assert with_neighbours(brief, pointed, lines, ASKED) == pointed
    unmet = "The full check decrypts all data on a schedule."
    assert with_neighbours(unmet, pointed, lines, ASKED) == pointed
    assert with_neighbours(said, [lines[lamps]], lines, ASKED) == [lines[lamps]]


def test_a_claim_may_name_the_site_or_the_collection_that_its_page_is_from() -> None:
    [line, *_] = _lines("Never hard code a passphrase in any script.")
    own = replace(line.page, site="Keeper Reference", domain="harbour-handbook")
    line = replace(line, page=own)
    aspect = Aspect("A1", ASKED, ASKED, "plan", 0)
    for name, is_kept in (
        ("The Keeper Reference", True), ("The Harbour Handbook", True), ("The Gull Gazette", False),
    ):  # fmt: skip
        reading, said = Reading(), f"{name} says never to hard code a passphrase in any script."
        check_finding(reading, said, [line], aspect, ASKED, 3, "things", in_context=True)
        assert [each.claim == said for each in reading.findings] == [is_kept]


@pytest.mark.parametrize(
    ("said", "is_kept"),
    [
        ("The Night Log of Lighter notes each hour of storm and each oil can.", True),
        ("The Gull Log of Lighter notes each hour of storm and each oil can.", False),
        ("Lighter can note all hours of storm and all oil cans, once a night.", True),
    ],
)
def test_a_claim_may_name_what_its_page_names_elsewhere(said: str, is_kept: bool) -> None:
    [line, *_] = _lines(
        "Enable automatic notes of each hour of storm and each oil can, once a night.\n\n"
        "The Night Log is a book of Lighter.\n\nTo enable it, press the bell."
    )
    aspect = Aspect("A1", ASKED, ASKED, "plan", 0)
    for in_context in (True, False):
        reading = Reading()
        check_finding(reading, said, [line], aspect, ASKED, 3, "things", in_context=in_context)
        kept = [each.claim for each in reading.findings] == [said]
        assert kept is (is_kept and in_context)
