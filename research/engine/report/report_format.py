"""Report formats (rule F12): instructions for the model and deterministic reshaping."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.records import Checks, Complexity
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.dating import Stale
from research.engine.report.parts.paragraphs import MOST_SENTENCES
from research.engine.report.parts.subjects import opens_with_pronoun
from research.engine.text.tokens import term_set, words_in
from research.engine.threads.seed import ReportForm, ReportFormat

SHORT_ANSWER_WORDS, WORDS_OF_A_PART = 80, 40
WORDS_OF_A_DATE = 3
WORDS_AT_A_GLANCE, LEAST_SUMMARY_WORDS = 15, 100
"""The same where sections say in full what the summary says in brief."""
TABLE_WORDS = 300
LENGTHS = {
    "shorter": "at most 200",
    "longer": "1,500 to 2,500",
    "table": f"at most {TABLE_WORDS}",
    "memo": "300 to 600",
}
ASKED_FORMS: Mapping[str, ReportForm] = {
    "brief": "shorter",
    "table": "table",
    "memo": "memo",
    "faq": "faq",
    "literature review": "review",
}
"""Forms that a question may ask for, by the name that a model has for them."""
FORMS = {
    "shorter": "As short as it can be: the answer, and one statement for each sub-question.",
    "longer": "In depth: use all of the evidence, with its conditions, figures and examples.",
    "table": "A table, made later: one or two plain statements for each sub-question.",
    "memo": "A memo: what matters for a decision first, then what it rests on, then what is open.",
    "faq": "Questions and answers: the first sentence on each sub-question answers it by itself.",
    "review": "A literature review: who found what, when and by which method, where they agree and "
    "differ, and what nobody has studied.",
    "reader": "For this reader, in words and with an emphasis that fit: {reader}",
}
ROOM = {"shorter": 1, "table": 2, "memo": 3}
MOST_WORDS = {"quick": 400, "standard": 1500}
"""Words of a whole report of few sub-questions by depth, without its headings and sources."""
WORDS_BESIDE, WORDS_OF_A_HEAD, WORDS_OF_A_BOX = 30, 3, 4
"""Words that a report has besides statements and short answer: its verdict, facts and open points,
the head of a line of the short answer, and what the box of a dispute says around its views.
"""
SECOND_SOURCE = 0.2
"""Share of a statement's words by which it may be longer where several records say it."""
ASKED_FOR, MOST_ASKED = 0.4, 4
"""The same for one that has this many terms of the question."""
TRIES = 6
"""Statements that a shortened report tries in vain to take back before it has no room."""
MEMO_WORDS = 600
MOST_OPEN = 6
"""Points that a report says it leaves open."""
ROOM_OF_FORM = {"longer": 2500, "faq": 1500, "review": 1500}
"""Words of a whole report that a form may have where its depth allows fewer."""
BY_CODE = frozenset({"shorter", "table"})
"""The forms into which code can rewrite a report without a model."""


@dataclass(frozen=True)
class Layout:
    """How a report is laid out: its sections as a table, without the searches tried, with the
    source of each statement named beside it, with key figures, or with the extremes of its
    comparison, and with a mark at a figure that is older than `stale` allows.
    Paragraphs of the summary have at most `summary_sentences`. A terse report spends its words on
    what was found: why it ended and what supports a section are left out. A dense one, for which
    the usual one is too long, shows what stands in a table or the timeline there alone, and the key
    figures of a led one only if it `keeps_figures`. One that
    `is_direct` lists the short answer by sub-questions, names those that its length left out, marks
    a figure that another of the same sentence has replaced, and has no section that only refers
    back. One that `lists_changes` has them in a table, one that `names_kinds` says what rests on
    forums alone, and one that `has_room` marks many disputes beside their parts. In one that
    `is_led` each section begins with its answer, and each item of the short answer names its
    sub-question. Sources dated after `today`, an ISO day or "", are called so. The method note
    tells the `checks`, if there are any.
    """

    as_table: bool = False
    is_brief: bool = False
    is_terse: bool = False
    is_dense: bool = False
    keeps_figures: bool = False
    names_sources: bool = False
    has_figures: bool = False
    has_extremes: bool = False
    stale: Stale | None = None
    summary_sentences: int = MOST_SENTENCES
    is_direct: bool = True
    lists_changes: bool = False
    names_kinds: bool = True
    has_room: bool = True
    is_led: bool = False
    today: str = ""
    checks: Checks | None = None


SPARE_COST = 10_000
"""Cost of the first statement on the author's list of spare ones; see `cost_by_words`."""


def summary_words(ledger: Ledger) -> int:
    """Return the most words of what opens the report: enough to answer each part of the
    question.
    """
    return planned_summary_words(ledger.complexity, len(ledger.aspects))


def planned_summary_words(complexity: Complexity, parts: int) -> int:
    """Return the same for a plan of so many sub-questions."""
    if complexity is Complexity.SIMPLE or parts < 2:
        return SHORT_ANSWER_WORDS
    return max(LEAST_SUMMARY_WORDS, WORDS_AT_A_GLANCE * parts)


def words_of_statements(most: int, complexity: Complexity, parts: int, disputes: int = 0) -> int:
    """Return how many words of a standard report of at most so many are left for its statements."""
    boxes = WORDS_OF_A_BOX * min(disputes, parts)
    whole = max(most, MOST_WORDS["standard"]) - WORDS_BESIDE - WORDS_OF_A_HEAD * parts - boxes
    return min(most, whole) - planned_summary_words(complexity, parts)


def words_of_tables(relations: Relations) -> int:
    """Return about how many words the tables of comparison and of changes take."""
    told = [text for each in relations.changes for text in (each.what, each.before, each.now)]
    if relations.cells:
        told += (*relations.entities, *relations.properties)
        told += (cell.value for cell in relations.cells.values())
    return sum(map(words_in, told)) + WORDS_OF_A_DATE * len(relations.changes)


def wanted_length(shape: ReportFormat, usual: str, parts: int = 0) -> str:
    """Return the length of a report's form, otherwise the usual one; a table has room for a
    statement on each of so many parts.
    """
    words = WORDS_OF_A_PART * parts
    if shape.form == "table" and words > TABLE_WORDS:
        return f"at most {words}"
    return LENGTHS.get(shape.form, usual)


def most_words(shape: ReportFormat, depth: str, wanted: int = 0) -> int | None:
    """Return the most words of a whole report of which so many are `wanted`; None for any
    number.
    """
    if shape.form == "memo":
        return MEMO_WORDS
    usual = MOST_WORDS.get(depth)
    return usual and max(usual, wanted, ROOM_OF_FORM.get(shape.form, 0))


def wanted_form(shape: ReportFormat, planned: str) -> str:
    """Return the plan's form and the additional instructions of the shape."""
    asked = FORMS.get(shape.form, "").format(reader=shape.reader)
    is_told = shape.form == "reader" or not shape.reader
    reader = "" if is_told else FORMS["reader"].format(reader=shape.reader)
    return "\n".join(filter(None, (planned, asked, reader)))


def apply_format(draft: Draft, shape: ReportFormat) -> Draft:
    """Sections cut to the statements that the shape has room for, best first as drafted."""
    room = ROOM.get(shape.form)
    if room is None:
        return draft
    cut = (replace(each, statements=each.statements[:room]) for each in draft.sections)
    return replace(draft, sections=tuple(cut))


def cost_by_words(said: Statement, asked: Set[str] = frozenset()) -> float:
    """Return the words of a statement per clause that cites evidence separately, less if several
    records say it or it has terms that are `asked` for; far more if its author would spare it, and
    the sooner the more.
    """
    if said.spare:
        return SPARE_COST / said.spare
    clauses = sum(bool(ids) for _, ids in said.parts)
    shared = min(MOST_ASKED, len(asked & term_set(said.body))) / MOST_ASKED if asked else 0
    worth = 1 + SECOND_SOURCE * (len(said.evidence) > 1)
    return said.cost / max(1, clauses) / worth / (1 + ASKED_FOR * shared)


def shorten(
    draft: Draft,
    is_short: Callable[[Draft], bool],
    is_kept: Callable[[Statement], bool],
    answered_by: Callable[[Statement], Set[str]],
    cost: Callable[[Statement], float],
) -> Draft:
    """Return the draft with as much left out as it takes to be short: the statements of the highest
    `cost` first, those that are kept after the others, then whole sections and the end of the
    summary. What alone says something on an answered sub-question comes last.

    Statements come back where there is room for them, until `TRIES` have failed: first those that
    are kept, since of a dispute one side may have been left, then those of the lowest cost.
    """
    whole = draft

    def with_less(draft: Draft) -> Draft | None:
        return _with_less(draft, is_kept, answered_by, cost)

    def order(said: Statement) -> tuple[bool, float, str]:
        return not is_kept(said), cost(said), said.text

    draft = _first_short(_ever_shorter(draft, with_less), is_short)
    return _refilled(draft, whole, is_short, order)


def without_loose_ends(short: Draft, whole: Draft, language: str) -> Draft:
    """Return a shortened draft without the sentences that go on with a pronoun from one which was
    left out: they would speak of another thing. A section keeps its first sentence.
    """
    before = {
        said: prior
        for section in whole.sections
        for prior, said in pairwise(section.statements)
        if not said.quoted and opens_with_pronoun(said.body, language)
    }

    def bound(section: Section) -> Section:
        told = list(section.statements[:1])
        for said in section.statements[1:]:
            if said not in before or before[said] == told[-1]:
                told.append(said)
        return replace(section, statements=tuple(told))

    return replace(short, sections=tuple(map(bound, short.sections)))


def _ever_shorter(draft: Draft, with_less: Callable[[Draft], Draft | None]) -> Iterator[Draft]:
    """Yield the draft, and what is left of it after each cut."""
    less: Draft | None = draft
    while less is not None:
        yield less
        less = with_less(less)


def _first_short(drafts: Iterator[Draft], is_short: Callable[[Draft], bool]) -> Draft:
    """Return the first of the shrinking drafts that is short enough, or the last one.

    Since whether one is short takes a rendered report to tell, they are tried in steps that double,
    and then by halves.
    """
    tried = [next(drafts)]
    too_long = -1
    while not is_short(tried[-1]):
        too_long = len(tried) - 1
        tried += islice(drafts, len(tried))
        if len(tried) == too_long + 1:
            return tried[-1]
    last = len(tried) - 1
    return tried[bisect_left(range(last), True, too_long + 1, key=lambda n: is_short(tried[n]))]


def _refilled(
    draft: Draft,
    whole: Draft,
    is_short: Callable[[Draft], bool],
    order: Callable[[Statement], tuple[bool, float, str]],
) -> Draft:
    """Return the draft with those statements of the whole one that it has room for, in this order;
    none is left where `TRIES` have failed.
    """
    tries = TRIES
    kept = {said for section in draft.sections for said in section.statements}
    left = {said for section in whole.sections for said in section.statements} - kept
    for said in sorted(left, key=order):
        more = _only(whole, kept | {said})
        if not is_short(replace(more, short_answer=draft.short_answer)):
            if tries := tries - 1:
                continue
            break
        kept.add(said)
        draft = replace(more, short_answer=draft.short_answer)
    return draft


def _only(draft: Draft, kept: Set[Statement]) -> Draft:
    sections = (
        replace(each, statements=tuple(said for said in each.statements if said in kept))
        for each in draft.sections
    )
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def _with_less(
    draft: Draft,
    is_kept: Callable[[Statement], bool],
    answered_by: Callable[[Statement], Set[str]],
    cost: Callable[[Statement], float],
) -> Draft | None:
    """Return the draft without the statement, section or end of its summary that is missed least;
    None where nothing but one statement of the summary is left.
    """
    times = Counter(part for said in draft.statements for part in answered_by(said))

    def is_sole(said: Statement) -> bool:
        return any(times[part] == 1 for part in answered_by(said))

    long = [s for s in draft.sections if len(s.statements) > 1]
    loose = [s for s in long if not all(map(is_sole, s.statements))]
    if loose:

        def worth(at: tuple[Section, int]) -> tuple[bool, bool, float, int]:
            said = at[0].statements[at[1]]
            return is_sole(said), is_kept(said), -cost(said), -at[1]

        places = [
            (section, number) for section in loose for number in range(len(section.statements))
        ]
        section, least = min(places, key=worth)
        said = section.statements
        left = replace(section, statements=said[:least] + said[least + 1 :])
        return replace(draft, sections=tuple(left if s is section else s for s in draft.sections))
    short, told = draft.short_answer, set(draft.short_answer)
    last_first = draft.sections[::-1]
    sections = sorted(last_first, key=lambda s: not told.issuperset(s.statements))
    less = [
        (
            gone.statements,
            replace(draft, sections=tuple(s for s in draft.sections if s is not gone)),
        )
        for gone in sections
    ] + [
        ((short[n],), replace(draft, short_answer=short[:n] + short[n + 1 :]))
        for n in range(len(short) - 1, 0, -1)
    ]
    return min(less, key=lambda each: any(map(is_sole, each[0])))[1] if less else None
