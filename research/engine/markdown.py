"""The report as Markdown: short answer, facts, sections, disputes, not found, sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from research.engine.draft import Draft, Section, Statement
from research.engine.grouping import Group, grouped
from research.engine.labels import Labels, labels
from research.engine.ledger import ANSWERING, Ledger
from research.engine.literal import literal, sentence
from research.engine.marks import answered, is_close
from research.engine.quotes import plain
from research.engine.records import (
    Aspect,
    AspectState,
    Citation,
    Evidence,
    Quoted,
    Source,
    Standing,
)
from research.engine.text import heading, unique

LEAST_PASSAGES = 3


@dataclass(frozen=True)
class Rendered:
    markdown: str
    citations: tuple[Citation, ...]
    short_answer: str


@dataclass
class _Markers:
    """Numbers the quotes in the order in which the report cites them."""

    ledger: Ledger
    places: dict[tuple[str, str, int], int] = field(default_factory=dict)

    @cached_property
    def words(self) -> Labels:
        return labels(self.ledger.plan.language)

    def of(self, evidence_ids: Iterable[str]) -> str:
        """`[1][4]` for every quote behind these records, one for each page."""
        marks = []
        for record_id in evidence_ids:
            for source in self._one_a_page(self.ledger.book.records[record_id]):
                place = (record_id, source.url, source.start)
                marks.append(self.places.setdefault(place, len(self.places) + 1))
        return "".join(f"[{mark}]" for mark in marks)

    @staticmethod
    def _one_a_page(record: Evidence) -> list[Quoted]:
        return list({source.url: source for source in reversed(record.sources)}.values())[::-1]

    def citations(self) -> tuple[Citation, ...]:
        return tuple(
            Citation(mark, (record_id,), url) for (record_id, url, _), mark in self.places.items()
        )


def render(
    ledger: Ledger, draft: Draft, ended: str, cut: int, by_code: int, as_table: bool = False
) -> Rendered:
    """The whole report; markers are `[n]`. `by_code` counts model tasks that code did."""
    marks = _Markers(ledger)
    passages = {i for s in draft.statements if s.quoted for i in s.evidence}
    is_thin = len(passages) < LEAST_PASSAGES and all(s.quoted for s in draft.short_answer)
    closest = is_thin and not _is_answered(next(iter(ledger.aspects.values())))
    head = "closest" if closest else "short_answer"
    if not draft.found:
        head = "not_found"
    short = " ".join(group.inline() for group in _said(draft.short_answer, marks))
    opening = f"{draft.opening} " if draft.opening else ""
    sections = (_section(ledger, section, marks) for section in draft.sections)
    told = short if draft.found else ""
    parts = [
        f"# {literal(ledger.question)}",
        f"**{marks.words[head]}.** {opening}{short}",
        *([_table(ledger, draft.sections, marks)] if as_table else sections),
        _disagreements(ledger, marks),
        _not_found(ledger, draft, marks.words),
        _not_searched(ledger, draft, marks.words),
        _dropped(ledger, marks.words),
    ]
    parts.insert(2, f"*{_facts(marks, ended, cut, by_code, _has_no_answer(ledger, draft))}*")
    parts.append(_sources(ledger, marks))
    return Rendered("\n\n".join(filter(None, parts)) + "\n", marks.citations(), told)


def _is_answered(aspect: Aspect) -> bool:
    """Whether code itself says that sources answer it."""
    told = aspect.standing is not None and bool(aspect.standing.sources)
    return told and aspect.state is not AspectState.DISPUTED


def _has_no_answer(ledger: Ledger, draft: Draft) -> bool:
    """Whether passages only come close to the one question, or disagree on it."""
    first, *others = ledger.aspects.values()
    disputed = first.state is AspectState.DISPUTED
    return not others and (bool(draft.opening) or is_close(first) or disputed)


def _said(statements: Iterable[Statement], marks: _Markers) -> list[Group]:
    """Statements with their markers, quotes behind their lead-ins."""
    return grouped(
        (_lead_in(each), f"{_body(each)} {marks.of(each.evidence)}".strip()) for each in statements
    )


def _lead_in(statement: Statement) -> str:
    named = statement.lead_in.removeprefix("**").removesuffix(":** ")
    return f"**{literal(named)}:** " if named else ""


def _body(statement: Statement) -> str:
    return literal(statement.body) if statement.quoted else sentence(statement.body)


def _section(ledger: Ledger, section: Section, marks: _Markers) -> str:
    aspect = ledger.aspects[section.aspect_id]
    quoted = any(statement.quoted for statement in section.statements)
    groups = _said(section.statements, marks)
    body = (
        "\n\n".join(group.paragraph() for group in groups)
        if quoted
        else " ".join(group.inline() for group in groups)
    )
    standing = _standing(ledger, aspect, section, marks.words)
    return f"## {literal(heading(aspect.text))}\n\n*{standing}*\n\n{body}"


def _table(ledger: Ledger, sections: Iterable[Section], marks: _Markers) -> str:
    """A row for each sub-question: what was found, and on which sites."""
    head = " | ".join(marks.words[key] for key in ("sub_question", "answer", "sources"))
    rows = [f"| {head} |", "| --- | --- | --- |"]
    for section in sections:
        records = [ledger.book.records[i] for s in section.statements for i in s.evidence]
        sites = unique(source.domain for record in records for source in record.sources)
        said = " ".join(group.inline() for group in _said(section.statements, marks))
        cells = (literal(heading(ledger.aspects[section.aspect_id].text)), said, ", ".join(sites))
        rows.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _standing(ledger: Ledger, aspect: Aspect, section: Section, words: Labels) -> str:
    """Well established, or preliminary, in words and by a mark, by what the section cites."""
    if aspect.state is AspectState.DISPUTED:
        return f"⚠ {words['disagree']}"
    if aspect.state not in ANSWERING or is_close(aspect):
        return f"○ {words['not_settled']}"
    cited = [ledger.book.records[i] for s in section.statements for i in s.evidence]
    keys = {key for record in cited for key in record.keys}
    if aspect.standing is not None:
        return _told(aspect.standing, keys, words)
    confirmed = max((len(record.keys) for record in cited), default=0)
    if confirmed > 1:
        return f"● {words['established'].format(n=confirmed)}"
    if len(keys) > 1:
        return f"◐ {words['each_alone'].format(n=len(keys))}"
    known = len(ledger.keys_of(aspect.id) | keys)
    return f"○ {words['one_of'].format(n=known) if known > 1 else words['preliminary']}"


def _told(standing: Standing, cited: set[str], words: Labels) -> str:
    """How many sources answer, as the mark has it, where code alone read them."""
    giving = len(standing.sources)
    if giving == 1:
        return f"○ {words['preliminary']}"
    if len(cited.intersection(standing.sources)) < 2:
        return f"○ {words['one_of'].format(n=giving)}"
    form = f"● {words['established']}" if standing.agree else f"◐ {words['each_alone']}"
    return form.format(n=giving)


def _facts(marks: _Markers, ended: str, cut: int, by_code: int, no_answer: bool) -> str:
    """One line; of a question that has no answer, or two, it does not count answers."""
    ledger, quotes = marks.ledger, len(marks.places)
    records = ledger.book.records
    sites = {
        source.independence_key
        for record_id, url, _ in marks.places
        for source in records[record_id].sources
        if source.url == url
    }
    pages = {url for _, url, _ in marks.places}
    local = all(url.startswith("file:") for url in pages)
    words = marks.words
    where = words.count("document", len(pages)) if local else words.count("site", len(sites))
    newest = max((s.published for u in pages if (s := ledger.sources[u]).published), default="")
    told = words["answered"].format(n=answered(ledger), all=len(ledger.aspects))
    facts = [
        "" if no_answer or told in ended else told,
        words["from"].format(quotes=words.count("quote", quotes), where=where),
        words["newest"].format(date=newest[:10]) if newest else "",
        words["one_page"] if _is_from_one(marks, pages) else "",
        words.count("cut", cut) if cut else "",
        words.count("by_code", by_code) if by_code else "",
        ended.rstrip("."),
    ]
    return " · ".join(filter(None, facts))


def _is_from_one(marks: _Markers, pages: set[str]) -> bool:
    """Whether more than half of the quotes stand in one page."""
    most = max((sum(url == page for _, url, _ in marks.places) for page in pages), default=0)
    return len(pages) > 1 and most * 2 > len(marks.places)


def _disagreements(ledger: Ledger, marks: _Markers) -> str:
    records, lines = ledger.book.records, []
    for record in records.values():
        for other_id in record.contradicts:
            if int(other_id[1:]) > int(record.id[1:]):
                lines.append(_pair(record, records[other_id], marks))
    return f"## {marks.words['disagree']}\n\n" + "\n\n".join(lines) if lines else ""


def _pair(one: Evidence, other: Evidence, marks: _Markers) -> str:
    return "\n".join(
        f"- {r.sources[0].domain}, "
        f"{(r.sources[0].published or '')[:10] or marks.words['undated']}: "
        f"“{literal(plain(r.sources[0].quote))}” {marks.of([r.id])}"
        for r in (one, other)
    )


def _not_found(ledger: Ledger, draft: Draft, words: Labels) -> str:
    """What nothing was found on, and the searches that were tried."""
    lines = [line for state, line in _open(ledger, draft) if state is not AspectState.NOT_SEARCHED]
    if not lines:
        return ""
    queries = ", ".join(f"“{literal(query)}”" for query in list(ledger.queries)[:12])
    tried = words["tried"].format(queries=queries)
    return "\n\n".join((f"## {words['not_found']}", "\n".join(lines), tried))


def _not_searched(ledger: Ledger, draft: Draft, words: Labels) -> str:
    """What no search was made for."""
    lines = [line for state, line in _open(ledger, draft) if state is AspectState.NOT_SEARCHED]
    return f"## {words['not_searched']}\n\n" + "\n".join(lines) if lines else ""


def _open(ledger: Ledger, draft: Draft) -> list[tuple[AspectState, str]]:
    """The sub-questions without an answer; one with a section of its own stands there alone."""
    shown = {section.aspect_id for section in draft.sections}
    return [
        (a.state, f"- {literal(heading(a.text))}")
        for a in ledger.aspects.values()
        if a.state not in ANSWERING and a.id not in shown
    ]


def _dropped(ledger: Ledger, words: Labels) -> str:
    lines = [f"- {literal(heading(aspect.text))}" for aspect in ledger.dropped.values()]
    return f"## {words['dropped']}\n\n" + "\n".join(lines) if lines else ""


def _sources(ledger: Ledger, marks: _Markers) -> str:
    cited: dict[str, list[int]] = {}
    for (_, url, _), mark in marks.places.items():
        cited.setdefault(url, []).append(mark)
    words = marks.words
    lines = [f"## {words['sources']}", f"### {words['cited']}"]
    lines.append("\n".join(
        f"- {''.join(f'[{m}]' for m in numbers)} {_named(ledger.sources[url])}"
        for url, numbers in cited.items()
    ))  # fmt: skip
    unused = [s for s in ledger.sources.values() if s.status == "read" and s.url not in cited]
    failed = [s for s in ledger.sources.values() if s.status in {"refused", "failed", "empty"}]
    if unused:
        lines += [f"### {words['unused']}", "\n".join(f"- {_named(s)}" for s in unused)]
    if failed:
        lines.append(f"### {words['failed']}")
        lines.append("\n".join(f"- {_named(s)}" for s in failed))
    return "\n\n".join(lines)


def _named(source: Source) -> str:
    title = literal((source.title or source.url).replace("[", "(").replace("]", ")"))
    date = f", {source.published[:10]}" if source.published else ""
    reason = f": {source.reason}" if source.reason else ""
    return f"{title}, {source.domain}{date}: <{source.url}>{reason}"
