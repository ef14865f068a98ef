"""Statements as Markdown: citations, marks and both sides of a dispute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.disputes import (
    Disputes,
    is_weighed,
    named_holder,
    rests_on_both,
    says_dispute,
    sides_among,
)
from research.engine.report.draft import Statement
from research.engine.report.parts.dating import DAY, MONTH, age_mark, earlier_amounts
from research.engine.report.parts.disagreement import (
    holders_of,
    rival_groups,
    sides_of,
    with_views_joined,
)
from research.engine.report.parts.earlier_values import (
    is_worded_as_earlier,
    tell_earlier,
    with_unit,
)
from research.engine.report.parts.paragraphs import (
    render_paragraphs,
    with_lone_items_as_sentences,
)
from research.engine.report.parts.sources import (
    are_of_one_site,
    doubt_mark,
    holder_of_side,
    publisher_of,
    site_name,
    told_by,
    weak_kind,
)
from research.engine.report.parts.subjects import opens_with_reference
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.rendering.markers import Markers
from research.engine.text.tokens import unique_texts

_END = re.compile(r"(?=[.!?…。！？][”\"’)」』）]*\Z)|\Z")
"""Position of a note in a sentence: before the final punctuation, or at the end without any."""

BOX = "> **⚠"
"""How the box of a dispute begins."""
LEAST_SIDES = 2
"""Sides below which a box quotes those that its opening rests on as well."""


@dataclass(frozen=True)
class Group:
    """What stands behind one lead-in, which is '' for sentences that have none."""

    lead_in: str
    said: list[str]

    def inline(self) -> str:
        return self.lead_in + " ".join(self.said)

    def paragraph(self) -> str:
        """As Markdown; several quotes are a list."""
        if not self.lead_in or len(self.said) == 1:
            return self.inline()
        return "\n".join([f"{self.lead_in.rstrip()}\n", *(f"- {each}" for each in self.said)])


def group_quotes(statements: Iterable[tuple[str, str]]) -> list[Group]:
    """Of lead-ins and what follows them. Neighbours from one section of one page share its
    lead-in; another section of the same page is named without the page's title.
    """
    groups: list[Group] = []
    before = ""
    for lead_in, said in statements:
        if lead_in and lead_in == before:
            groups[-1].said.append(said)
        else:
            groups.append(Group(_shorten_lead(lead_in, before), [said]))
        before = lead_in
    return groups


def _shorten_lead(lead_in: str, before: str) -> str:
    title, mark, section = lead_in.partition(" › ")
    known = before.partition(" › ")[0].removesuffix(":** ")
    return f"**{section}" if mark and title == known else lead_in


def _listed_sides(group: Sequence[Statement], marks: Markers) -> str:
    """Return a box that says what a dispute is about, then in an item for each side who holds its
    view, the view, and who reports it; the quotes that contradict it are a side as well.
    """
    ledger, records = marks.ledger, marks.ledger.book.records
    leads = [said for said in group if _opens(said, group, ledger)]
    sides = [said for said in group if said not in leads]
    told = {i for said in sides for i in said.evidence}
    untold = [records[i] for said in group for i in marks.untold.get(said, ())]
    if len(sides_of(sides, ledger)) + bool(untold) < LEAST_SIDES:
        opened = unique_texts(i for said in leads for i in said.evidence)
        untold += [records[i] for i in opened if not told.isdisjoint(records[i].contradicts)]
    holders = {said: marks.wall.masked(each) for said, each in holders_of(sides, ledger).items()}
    shown = {i for said in group for i in said.evidence}
    disputes = Disputes(ledger, group)
    views = {said for said in group if disputes.of(said) is not None}
    views = views if ledger.began >= Form.COMPUTED else {*group}
    cited = (records[i] for said in sides for i in said.evidence if i in records)
    by_page = ledger.began >= Form.EDITED and are_of_one_site((*cited, *untold), ledger)
    items = [_one_side(side, holders, views, marks, by_page) for side in sides_of(sides, ledger)]
    items += [
        " ".join(_quoted_view(record, marks, by_page) for record in side)
        for side in sides_among(untold)
    ]
    shown |= {record.id for record in untold}
    matters = ledger.relations.matters.items()
    matter = next((told for pair, told in matters if shown.issuperset(pair)), "")
    opening = " ".join(each.inline() for each in group_statements(leads, marks, boxed=True))
    opening = opening or marks.escaped(marks.wall.masked(matter))
    head = f"{BOX} {marks.words['disagree']}:** {opening}".rstrip()
    return "\n".join((head, ">", *(f"> - {item}" for item in items)))


def _led_by(name: str, holder: str, view: str) -> str:
    """Prefix a view with its holder's name, which isn't repeated where the view has it itself."""
    plain = view.removeprefix("The ").removeprefix("the ")
    for said in (view, plain):
        opening, rest = said[: len(holder)], said[len(holder) :]
        opens = bool(holder) and opening.casefold() == holder.casefold()
        if opens and rest.startswith((" ", ", ")) and name.startswith(f"**{holder}**"):
            return f"{name}{rest}"
    bare = holder.removeprefix("The ").removeprefix("the ")
    at = view.find(bare) if bare and name.startswith(f"**{holder}**") else -1
    if at < 0:
        return f"{name} – {view}"
    return f"{view[:at]}**{bare}**{name.removeprefix(f'**{holder}**')}{view[at + len(bare) :]}"


def _one_side(
    side: Sequence[Statement],
    holders: Mapping[Statement, str],
    views: Set[Statement],
    marks: Markers,
    by_page: bool,
) -> str:
    """Return what one side says: the views each behind its holder. What only goes on about one is
    nobody's view.
    """
    told, before = [], ""
    for said in side:
        holder, is_view = holders.get(said, ""), said in views and bool(said.evidence)
        same = [each for each in side if each in views and holders.get(each, "") == holder]
        ids = unique_texts(i for each in (same if holder else [said]) for i in each.evidence)
        whole = replace(said, evidence=tuple(ids))
        name = holder_of_side(whole, marks.ledger, marks.words, holder, by_page=by_page)
        beside = _told_beside(said, marks, named=True, teller="")
        view = _render_cited(said, marks, beside).strip()
        told.append(_led_by(name, holder, view) if is_view and name != before else view)
        before = name if is_view else before
    return " ".join(told)


def _quoted_view(record: Evidence, marks: Markers, by_page: bool) -> str:
    said, ledger, words = Statement("", (record.id,)), marks.ledger, marks.words
    holder = marks.wall.masked(named_holder(said.evidence, ledger))
    view = f"“{marks.quote_of(record)}”"
    name = holder_of_side(said, ledger, words, holder, by_page=by_page)
    return f"{name} – {view} {marks.of([record.id])}"


def inline_texts(statements: Iterable[Statement], marks: Markers) -> list[str]:
    """Return the statements of a short answer, those that contradict each other as one text; since
    `Form.EDITED` with a mark alone, where sections tell both sides.
    """
    told = [*statements]
    if marks.layout.is_led and not marks.layout.is_brief and marks.ledger.began >= Form.EDITED:
        return [group.inline() for group in group_statements(told, marks)]
    texts: list[str] = []
    groups = rival_groups(told, marks.ledger)
    for is_disputed, part in groupby(groups, key=lambda each: _is_disputed(each, marks)):
        if not is_disputed:
            said = [each for group in part for each in group]
            texts += (group.inline() for group in group_statements(said, marks))
            continue
        for first, *others in part:
            (own,) = group_statements([first], marks, boxed=True)
            more = marks.untold.get(first, ())
            beside = [each.inline() for each in group_statements(others, marks, boxed=True)]
            beside += quoted_lines((marks.ledger.book.records[i] for i in more), marks)
            texts.append(f"{own.inline()} ⚠ {marks.words['disagree']}: {' '.join(beside)}")
    return texts


def _is_disputed(group: Sequence[Statement], marks: Markers) -> bool:
    return len(group) > 1 or group[0] in marks.untold


def _with_lead_apart(group: Sequence[Statement], ledger: Ledger) -> Iterator[Sequence[Statement]]:
    """Yield the statements of a dispute, before them those that only say that there is one."""
    sides = [said for said in group if not _opens(said, group, ledger)]
    if len(sides) < 2 or len(sides) == len(group):
        yield group
        return
    yield from ([said] for said in group if said not in sides)
    yield sides


def _is_told_in_one(group: Sequence[Statement], marks: Markers) -> bool:
    """Return whether a sentence of a dispute gives both sides where its author put it, or behind
    the one that it refers back to, so that it needs no box or can't open one.
    """
    ledger = marks.ledger
    if ledger.began < Form.EDITED:
        return False
    if marks.is_whole and any(rests_on_both(said, ledger) for said in group):
        return True
    return any(
        _opens(said, group, ledger)
        and opens_with_reference(said.body, ledger.plan.language, frozenset())
        for said in group[1:]
    )


def _opens(said: Statement, group: Sequence[Statement], ledger: Ledger) -> bool:
    """Return whether a statement cites both sides of a dispute, or says that there is one."""
    return rests_on_both(said, ledger) or says_dispute(said, group, ledger)


def render_disputed(statements: Sequence[Statement], marks: Markers, most: int, named: bool) -> str:
    """Return statements in paragraphs and lists, quotations each apart, and in a box those that
    contradict each other.
    """
    blocks, ledger, words = list[str](), marks.ledger, marks.words
    heads = (words["date"], words["event"]) if ledger.began >= Form.EDITED else None

    def kind(group: Sequence[Statement]) -> str:
        is_told = _is_told_in_one(group, marks) or is_weighed(group, marks.weighed, ledger)
        is_boxed = _is_disputed(group, marks) and not is_told
        return "box" if is_boxed else "quote" if group[0].lead_in else ""

    found = with_views_joined(rival_groups(statements, ledger), ledger)
    groups = [
        part
        for group in found
        for part in ([group] if _is_told_in_one(group, marks) else _with_lead_apart(group, ledger))
    ]
    boxed = {i for each in groups if kind(each) == "box" for s in each for i in s.evidence}
    both = [s for s in statements if marks.is_whole and rests_on_both(s, ledger)]
    both = [said for said in both if not boxed.issuperset(said.evidence)]
    marks.told_in_one.update(said for said in both if not is_weighed([said], marks.weighed, ledger))
    marks.boxed = boxed.union(marks.weighed, *(said.evidence for said in both))
    for name, part in groupby(groups, key=kind):
        if name == "box":
            blocks += (_listed_sides(group, marks) for group in part)
            continue
        said = [each for group in part for each in group]
        if ledger.began >= Form.EDITED:
            said = with_lone_items_as_sentences(said)
        told = group_statements(said, marks, named)
        if name == "quote":
            blocks += [group.paragraph() for group in told]
        else:
            shown = [group.inline() for group in told]
            blocks.append(render_paragraphs(said, shown, most, heads))
    return "\n\n".join(blocks)


def group_statements(
    statements: Iterable[Statement],
    marks: Markers,
    named: bool = False,
    boxed: bool = False,
) -> list[Group]:
    """Statements with their markers, quotes behind their lead-ins. With `named`, each that is no
    quote says who says it and when; `boxed` ones stand beside what contradicts them, so that no
    mark has to say it.
    """
    ledger, words = marks.ledger, marks.words
    told = ((each, _told_beside(each, marks, named)) for each in statements)

    def doubt(said: Statement) -> str:
        is_dated = not marks.layout.is_dense
        is_told = said in marks.told_in_one or not {*said.evidence} <= marks.boxed
        is_settled = boxed or is_weighed([said], marks.weighed, ledger)
        if marks.is_whole and not is_settled and is_told and rests_on_both(said, ledger):
            return f" (⚠ {words['disputed']})"
        return "" if is_settled else doubt_mark(said, ledger, words, is_dated, marks.boxed)

    return group_quotes(
        (
            _lead_in(each),
            f"{_render_cited(each, marks, by)}{doubt(each)}".strip(),
        )
        for each, by in told
    )


def with_site(ledger: Ledger, said: Statement) -> Statement:
    """Return a quotation behind its site instead of its page's title and section."""
    if not said.quoted or not said.lead_in or not said.evidence:
        return said
    lead_in = f"**{site_name(ledger.book.records[said.evidence[0]].sources[0], ledger)}:** "
    return replace(said, text=lead_in + said.body, lead_in=lead_in)


def _told_beside(said: Statement, marks: Markers, named: bool, teller: str | None = None) -> str:
    """Return the parenthesis at the end of a statement: which of its figures is an earlier one,
    unless its author was asked to word that, whether it may have been overtaken, whether it rests
    on forums alone, whether its author concludes it and, with `named`, who says it, unless a
    `teller` is given that says it.
    """
    stale = marks.layout.stale
    is_inline = said.quoted and not said.lead_in
    if (said.quoted and stale is None and not is_inline) or said.is_column:
        return ""
    earlier = earlier_amounts(said.body, said.evidence, marks.ledger)
    earlier = earlier if marks.layout.is_direct else []
    is_asked = marks.layout.is_led and marks.layout.lists_changes
    is_plain = is_asked or is_worded_as_earlier(said, earlier, marks.ledger)
    values = [] if is_plain else [with_unit(value, said.body) for value in earlier]
    told = (
        "" if earlier else tell_earlier(said, marks.ledger, marks.words),
        marks.words["earlier"].format(values=", ".join(values)) if values else "",
        age_mark(said, marks.ledger, stale, marks.words, named and not said.quoted)
        if stale and not earlier
        else "",
        _teller_of(said, marks) if named and teller is None else teller,
        _name_of(said, marks) if is_inline and teller is None else "",
        marks.words["concluded"] if said.concludes else "",
    )
    shown = "; ".join(filter(None, told))
    names_kind = marks.layout.names_kinds and not said.lead_in
    kind = weak_kind(said, marks.ledger) if names_kind else ""
    if not kind or marks.words[f"kind_{kind}"].casefold() in f"{shown} {said.body}".casefold():
        return shown
    return "; ".join(filter(None, (shown, marks.words[f"only_{kind}"])))


def _teller_of(said: Statement, marks: Markers) -> str:
    """Return who says a statement and when."""
    precision = MONTH if marks.layout.stale else DAY
    return told_by(said, marks.ledger, marks.words, precision)


def _name_of(quotation: Statement, marks: Markers) -> str:
    """Return the site that a quotation is taken from."""
    source = marks.ledger.book.records[quotation.evidence[0]].sources[0]
    title = marks.lone_titles.get(source.url)
    return escape_markdown(title) if title else publisher_of(source, marks.ledger)


_OPEN_END = re.compile(r"[.。]”$")  # its sentence goes on with the source of the quotation


def _lead_in(statement: Statement) -> str:
    named = statement.lead_in.removeprefix("**").removesuffix("** ")
    return f"**{escape_markdown(named)}** " if named else ""


def _render_cited(statement: Statement, marks: Markers, told_by: str) -> str:
    """Return a statement with its citations, inline for clauses, and its parenthetical note."""
    *clauses, (rest, last) = statement.parts
    if statement.quoted:
        said = _render_quotation(statement, told_by, marks)
    else:
        said = "".join(f"{marks.sentence(each)} {marks.of(ids)}" for each, ids in clauses)
        said += marks.sentence(rest)
        said = _END.sub(lambda _: f" ({told_by})", said, count=1) if told_by else said
    is_told = marks.ledger.began < Form.COMPUTED or tell_earlier(
        statement, marks.ledger, marks.words
    )
    return f"{said} {marks.of((*last, *statement.earlier) if is_told else last)}"


def _render_quotation(quotation: Statement, told_by: str, marks: Markers) -> str:
    body = quotation.body
    quoted = marks.escaped(body)
    if not told_by:
        return quoted
    if quotation.lead_in:
        return f"({told_by}) {quoted}"
    return f"{_OPEN_END.sub('”', quoted)} ({told_by})."


def quoted_lines(records: Iterable[Evidence], marks: Markers) -> Iterator[str]:
    """Yield the first quote of each record behind its site and date."""
    return (
        f"{escape_markdown(site_name(r.sources[0], marks.ledger))}, "
        f"{marks.words.date((r.sources[0].published or '')[:DAY]) or marks.words['undated']}: "
        f"“{marks.quote_of(r)}” {marks.of([r.id])}"
        for r in records
    )
