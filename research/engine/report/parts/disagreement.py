"""Both sides of a disagreement next to each other, in sections and in the summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import combinations

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.checking.statement_check import check_statement
from research.engine.report.disputes import (
    Disputes,
    is_beside,
    may_hold,
    named_holder,
    says_half_of,
)
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.repetitions import SAME_WORDS
from research.engine.report.parts.subjects import refers_back
from research.engine.text.entities import find_numbers, written_names
from research.engine.text.language import ENGLISH, code_of
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set
from research.engine.untrusted.order_words import content_terms

SHORTER = 0.2
"""How much more of its words a shorter statement has to share to repeat a longer one."""
Chunk = list[Statement]
"""A statement, and those behind it that go on about the same."""
ON_ITS_MATTER, REPEATED = 0.3, 0.5
"""Shares of its words from which a statement speaks of a view's matter, and only repeats it."""


def gather_rivals(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose statements on one dispute stand together, in the section that has most
    of them: what only says that there is one, the side that is told first, then the others, or the
    claim of one of these. Where one author wrote all, and told both sides in one, they stay.
    """
    told = [said for section in draft.sections for said in section.statements]
    disputes, cited = Disputes(ledger, told), _cited_by(told, ledger)
    in_one = {disputes.of(s) for s in told if draft.is_whole and len(disputes.sides_of(s)) > 1}
    chunks = {each.aspect_id: [*_chunks(each.statements, disputes)] for each in draft.sections}
    members: dict[int, dict[str, list[Chunk]]] = {}
    for part, found in chunks.items():
        for chunk in found:
            number = disputes.of(chunk[0])
            if number is not None and number not in in_one:
                members.setdefault(number, {}).setdefault(part, []).append(chunk)
    hosts = {n: max(told, key=lambda part: len(told[part])) for n, told in members.items()}

    def gathered(part: str) -> Iterator[Statement]:
        for chunk in chunks[part]:
            number = disputes.of(chunk[0])
            if number not in members:
                yield from chunk
            elif hosts[number] == part and chunk is members[number][part][0]:
                own, others = members[number][part], members[number].items()
                rest = [each for name, found in others if name != part for each in found]
                yield from _in_order([*own, *rest], disputes, ledger, cited)

    def without_repeated_views(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        if ledger.began < Form.EDITED:
            return statements
        apart = views_apart([*rival_groups(statements, ledger)], ledger)
        again = [said for said, _, share in apart if share >= REPEATED]
        return tuple(said for said in statements if said not in again)

    parts = ((s, tuple(gathered(s.aspect_id))) for s in draft.sections)
    sections = (replace(s, statements=without_repeated_views(said)) for s, said in parts)
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def _chunks(statements: Iterable[Statement], disputes: Disputes) -> Iterator[Chunk]:
    """Yield the statements, those on a dispute with what goes on about it: it rests on some of the
    same evidence.
    """
    chunk: list[Statement] = []
    for said in statements:
        goes_on = (
            bool(chunk)
            and disputes.of(chunk[0]) is not None
            and disputes.of(said) is None
            and not {*chunk[0].evidence}.isdisjoint(said.evidence)
        )
        if chunk and not goes_on:
            yield chunk
            chunk = []
        chunk.append(said)
    if chunk:
        yield chunk


def _in_order(
    chunks: Sequence[Chunk], disputes: Disputes, ledger: Ledger, cited: Set[str]
) -> Iterator[Statement]:
    """Yield what is said on a dispute side by side, with the other side if nothing `cited` is."""
    leads = [chunk for chunk in chunks if len(disputes.sides_of(chunk[0])) > 1]
    sides = [chunk for chunk in chunks if chunk not in leads]

    def is_other(said: Statement) -> bool:
        first = sides[0][0]
        return _disagree(said, first, ledger) or disputes.differ(said, first)

    others = [chunk for chunk in sides if is_other(chunk[0])]
    first = [chunk for chunk in sides if chunk not in others]
    first, others = (_said_once(chunks, ledger) for chunks in (first, others))
    for chunk in (*leads, *first, *others):
        yield from chunk
    if not others and not leads:
        rivals = (i for chunk in first for i in _rivals_of(chunk[0], ledger))
        rival = next(rivals, None)
        if rival is not None and rival not in cited:
            yield replace(_as_statement(rival, ledger), is_item=first[0][0].is_item)


def _said_once(chunks: Sequence[Chunk], ledger: Ledger) -> list[Chunk]:
    """Merge statements of one side that repeat each other: mostly the same words, the same numbers,
    and no difference from the other's quotes. The first one cites the evidence of all.
    """
    kept: list[Chunk] = []
    for said, *more in chunks:
        for chunk in kept:
            if _repeats(said, chunk[0], ledger):
                evidence = (*chunk[0].evidence, *said.evidence)
                chunk[0] = replace(chunk[0], evidence=tuple(dict.fromkeys(evidence)))
                chunk += more
                break
        else:
            kept.append([said, *more])
    return kept


def _repeats(said: Statement, first: Statement, ledger: Ledger) -> bool:
    terms, others = term_set(said.body), term_set(first.body)
    shared = jaccard(terms, others)
    if ledger.began >= Form.EDITED:  # "The trams went, says the Board, since …" again, but shorter
        shared = max(shared, len(terms & others) / max(1, len(terms)) - SHORTER)
    if shared < SAME_WORDS or _disagree(said, first, ledger):
        return False
    if {*find_numbers(said.body)} != {*find_numbers(first.body)} or said.quoted or first.quoted:
        return False
    alone = Statement(first.text, said.evidence)
    check = check_statement(alone, ledger)
    return check.outcome == "carried" or (check.outcome == "undecided" and not check.reasons)


def sides_of(group: Sequence[Statement], ledger: Ledger) -> list[list[Statement]]:
    """Return the statements of a dispute grouped by side, in order: statements of one side don't
    contradict each other, and a statement that takes no side joins the side before it.
    """
    disputes, sides = Disputes(ledger, group), list[list[Statement]]()
    for said in group:
        own = disputes.sides_of(said)
        fitting = (
            side
            for side in sides
            if disputes.sides_of(side[0]) == own
            and not any(_disagree(said, each, ledger) for each in side)
        )
        last = sides[-1] if sides else None
        side = next(fitting, None) if own else last
        if side is None:
            sides.append([said])
        else:
            side.append(said)
    return sides


def first_of_sides(draft: Draft, ledger: Ledger) -> set[Statement]:
    """Return the statements of the sections that are the first on a side of a dispute."""
    told = [said for section in draft.sections for said in section.statements]
    disputes = Disputes(ledger, told)
    found: dict[tuple[int, frozenset[int]], Statement] = {}
    for said in told:
        number = disputes.of(said)
        if number is not None:
            found.setdefault((number, frozenset(disputes.sides_of(said))), said)
    return {*found.values()}


def with_both_sides(
    summary: Sequence[Statement], sections: Iterable[Section], ledger: Ledger
) -> tuple[Statement, ...]:
    """Return the summary with the other side behind each statement that sources contradict; not
    behind one that only cites a record for something else.
    """
    every = [said for section in sections for said in section.statements]
    told: list[Statement] = []
    cited = {i for said in summary for i in said.evidence}
    for said in summary:
        told.append(said)
        for rival in _rivals_of(said, ledger):
            other = next((s for s in every if rival in s.evidence and not s.quoted), None)
            if not _takes_side(said, rival, ledger):
                continue
            if rival not in cited and other is not None:
                told.append(other)
                cited |= set(other.evidence)
    return tuple(told)


def _takes_side(said: Statement, rival: str, ledger: Ledger) -> bool:
    """Return whether a statement has half of the words of a claim that it cites and that another
    one contradicts.
    """
    records = ledger.book.records
    own = records[rival].contradicts
    return any(says_half_of(said, records[i]) for i in said.evidence if i in own)


def rival_groups(statements: Sequence[Statement], ledger: Ledger) -> Iterator[list[Statement]]:
    """Yield the statements, together with those right behind them that are on the same dispute or
    contradict them, unless all of them take one side. A plain fact that stands among these and can
    be read alone follows them.
    """
    disputes, group = Disputes(ledger, statements), list[Statement]()

    def belongs(said: Statement) -> bool:
        number = disputes.of(said)
        return number is not None and number == disputes.of(group[0])

    def goes_on(rest: Sequence[Statement]) -> bool:
        own = {i for each in group for i in each.evidence}
        after = next((said for said in rest if own.isdisjoint(said.evidence)), None)
        return after not in (None, rest[0]) and belongs(after)

    def is_plain(said: Statement) -> bool:
        named = term_set(ledger.question) | term_set(said.body)
        leans = refers_back(said.body, ledger.plan.language, named)
        is_undisputed = ledger.began >= Form.COMPUTED and disputes.of(said) is None
        return (is_beside(said, ledger) or is_undisputed) and not leans

    def told() -> Iterator[list[Statement]]:
        plain = [said for said in group[1:] if is_plain(said)]
        rest = [said for said in group if said not in plain]
        is_dispute = any(
            _disagree(one, other, ledger) or disputes.differ(one, other)
            for one, other in combinations(rest, 2)
        )
        if is_dispute:
            yield rest
            yield from ([said] for said in plain)
        else:
            yield from ([said] for said in group)

    for at, said in enumerate(statements):
        if group and not (belongs(said) or goes_on(statements[at:])):
            yield from told()
            group = []
        group.append(said)
    yield from told()


def with_views_joined(
    groups: Iterable[Sequence[Statement]], ledger: Ledger
) -> list[list[Statement]]:
    """Return the groups of a section, what `views_apart` finds behind the side of its holder."""
    found = [[*group] for group in groups]
    for said, side, _ in views_apart(found, ledger):
        found.remove([said])
        box = next(group for group in found if side in group)
        box.insert(box.index(side) + 1, said)
    return found


def views_apart(
    groups: Sequence[Sequence[Statement]], ledger: Ledger
) -> list[tuple[Statement, Statement, float]]:
    """Return the statements of a section but the first that stand apart from a dispute though they
    open with the holder of a side and speak of its matter: with that side, and the share of their
    words that it has.
    """
    boxes = [group for group in groups if len(group) > 1]
    views = [view for box in boxes for view in holders_of(box, ledger).items()]
    found = []
    for [said] in (group for group in groups[1:] if len(group) == 1 and not group[0].quoted):
        for side, holder in views:
            bare = holder.removeprefix("The ").removeprefix("the ")
            terms = content_terms(said.body) - content_terms(holder)
            share = len(terms & content_terms(side.body)) / max(1, len(terms))
            opens = bool(bare) and said.body.removeprefix("The ").startswith(bare)
            if opens and share >= ON_ITS_MATTER:
                found.append((said, side, share))
                break
    return found


def holders_of(group: Sequence[Statement], ledger: Ledger) -> dict[Statement, str]:
    """Return who holds the view of each statement of a dispute: whom the model that found the
    dispute names by the quotes of a side, otherwise whom the statement names.
    """
    named = {said: named_holder(said.evidence, ledger) for said in group if not said.quoted}
    return _holders_by_words(group, ledger) | {said: who for said, who in named.items() if who}


def _holders_by_words(group: Sequence[Statement], ledger: Ledger) -> dict[Statement, str]:
    """Return who holds the view of each statement of a dispute, as it names them: the one name that
    the others and the question lack, or the only one that is known as a site. A name that may be a
    place, a time or a listener is none.

    None where neither all of them name somebody nor one a site, since they may be no views, and
    none outside English. The question may have the words of a site's name, and the others those
    that are on the same side.
    """
    if code_of(ledger.plan.language).partition("-")[0] not in {"", ENGLISH}:
        return {}
    sites = sorted({page.site for page in ledger.pages.values() if page.site})
    found: dict[Statement, str] = {}
    has_site = False
    disputes = Disputes(ledger, group)

    def others_of(said: Statement) -> list[Statement]:
        every = [each for each in group if each != said]
        rivals = [e for e in every if _disagree(e, said, ledger) or disputes.differ(e, said)]
        return rivals or every

    for said in group:
        others = term_set(" ".join(each.body for each in others_of(said)))
        known = others | term_set(ledger.question)

        def is_new(name: str, others: Set[str] = others, known: Set[str] = known) -> bool:
            is_site = any(name in site for site in sites)
            return not term_set(name) <= (others if is_site else known)

        new = filter(is_new, written_names(said.body))
        called = {_as_called(name, said.body, sites) for name in new}
        names = [name for name in called if may_hold(name, said.body)]
        voices = [name for name in names if any(name in site for site in sites)]
        has_site |= len(voices) == 1 and not said.quoted
        if not said.quoted and len(chosen := voices or names) == 1:
            found[said] = chosen[0]
    return found if has_site or len(found) == len(group) else {}


def _as_called(name: str, sentence: str, sites: Iterable[str]) -> str:
    """Return as much of the name of a site as a sentence has where a name is part of it: "and"
    divides other names.
    """
    words = (site.split() for site in sites if name in site)
    tails = (" ".join(part[at:]) for part in words for at in range(len(part)))
    return max((tail for tail in tails if name in tail and tail in sentence), key=len, default=name)


def untold_rivals(draft: Draft, ledger: Ledger) -> dict[Statement, list[str]]:
    """Return the records that contradict what a draft says and that it doesn't cite, each with the
    first statement that it contradicts, in a section if there is one. What a page says a second
    time is told with the first, and what only speaks for a side that is told isn't told again.
    """
    records = ledger.book.records
    known = _cited_by(draft.statements, ledger)
    cited = {*known}

    def is_told(rival: str, record_id: str) -> bool:
        others = cited.intersection(records[record_id].contradicts)
        pages = {source.url for i in others for source in records[i].sources}
        own = {source.url for source in records[rival].sources}
        is_on_a_told_side = any(rival not in records[i].contradicts for i in others)
        return is_on_a_told_side or (bool(own) and own <= pages)

    found: dict[Statement, list[str]] = {}
    for said in (*(s for each in draft.sections for s in each.statements), *draft.short_answer):
        for record_id in () if said.is_column or said.is_verdict else said.evidence:
            for rival in records[record_id].contradicts:
                if rival in records and rival not in known and not is_told(rival, record_id):
                    found.setdefault(said, []).append(rival)
                    known.add(rival)
    return found


def _cited_by(told: Iterable[Statement], ledger: Ledger) -> set[str]:
    """Return the evidence of statements, without that of plain facts beside a view."""
    return {i for said in told if not is_beside(said, ledger) for i in said.evidence}


def _disagree(one: Statement, other: Statement, ledger: Ledger) -> bool:
    if any(each.is_column or each.is_verdict for each in (one, other)):
        return False
    records = ledger.book.records
    rivals = {i for each in one.evidence if each in records for i in records[each].contradicts}
    return not rivals.isdisjoint(other.evidence)


def _rivals_of(said: Statement, ledger: Ledger) -> list[str]:
    """Return the records that contradict those that a statement cites, without its own."""
    records = ledger.book.records
    if said.quoted or said.is_column or said.is_verdict:
        return []
    return [
        rival
        for record_id in said.evidence
        if record_id in records
        for rival in records[record_id].contradicts
        if rival in records and rival not in said.evidence
    ][:1]


def _as_statement(record_id: str, ledger: Ledger) -> Statement:
    return Statement(ledger.book.records[record_id].claim, (record_id,))
