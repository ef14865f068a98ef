"""The sections of a report as its author ordered and named them (task `draft`, prompt `report`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.llm_tasks.answers import SectionAnswer
from research.engine.report.draft import Section, Statement, aspect_of, without_ids

STEPS = "steps"
"""What a section is on that has the next steps."""
_HEAD = re.compile(r"\s*#+\s*(?=\S)")
_REFERENCE = re.compile(r"\s*\(\s*open\s+\d{1,2}\s*\)", re.IGNORECASE)
_OPEN = re.compile(r"\s*open\s+(\d{1,2})\W*", re.IGNORECASE)


def texts_of(sections: Iterable[SectionAnswer]) -> list[str]:
    """Return the statements of all sections, in order."""
    return [without_references(text) for section in sections for text in section.statements]


def without_references(text: str) -> str:
    """Return a text without what points at an open point by its number ("(open 2)")."""
    return _REFERENCE.sub("", text)


@dataclass(frozen=True)
class Authored:
    """Sections in their author's order; the next steps stand under `steps_heading`, "" for none,
    behind the section on `steps_behind`, None where they open the report.
    """

    sections: tuple[Section, ...]
    steps_behind: str | None = None
    steps_heading: str = ""


def read_sections(
    answer: Sequence[SectionAnswer], said: Sequence[Statement], ledger: Ledger
) -> Authored:
    """Return the sections with their statements, of which `said` are those of all.

    Each is kept under one sub-question, the first of its own that no other section is under, and
    covers the others; one for which none is left goes on in the section before. A sub-question that
    no section names is covered by the one that cites most of its evidence.
    """
    found = Authored(())
    place = 0
    for told in answer:
        own = [*filter(_has_text, said[place : place + len(told.statements)])]
        place += len(told.statements)
        found = _with_section(found, told, own, ledger)
    return replace(found, sections=_covering_all(found.sections, ledger))


def _has_text(said: Statement) -> bool:
    return bool(said.text)


def _with_section(
    found: Authored, told: SectionAnswer, own: list[Statement], ledger: Ledger
) -> Authored:
    """Return the sections with a further one."""
    sections, has_steps = [*found.sections], STEPS in {each.casefold() for each in told.on}
    heading = heading_of(told.heading)
    named = [part for part in map(_id_of, told.on) if part in ledger.aspects]
    if own:
        taken = {each.aspect_id for each in sections}
        cited = Counter(filter(None, (aspect_of(each, ledger) for each in own)))
        wanted = (*named, *(part for part, _ in cited.most_common()), *ledger.aspects)
        part = next((each for each in wanted if each not in taken), "")
        if part:
            covers = tuple(each for each in dict.fromkeys(named) if each != part)
            own = [replace(each, about=part) for each in own]
            sections.append(Section(part, tuple(own), heading=heading, covers=covers))
        else:
            own[0] = replace(own[0], opens_paragraph=True)
            own = [replace(each, about=sections[-1].aspect_id) for each in own]
    if sections and (not own or not part):
        last = sections[-1]
        covers = tuple(dict.fromkeys((*last.covers, *named)))
        sections[-1] = replace(last, statements=(*last.statements, *own), covers=covers)
    if not has_steps:
        return replace(found, sections=tuple(sections))
    behind = sections[-1].aspect_id if sections else None
    return Authored(tuple(sections), behind, "" if own else heading)


def _id_of(text: str) -> str:
    return text.strip(" []()*:")


def _covering_all(sections: Sequence[Section], ledger: Ledger) -> tuple[Section, ...]:
    """Return the sections, the answered sub-questions that none covers put under the one that cites
    most of their evidence.
    """
    covered = {part for each in sections for part in each.parts}
    result, records = [*sections], ledger.book.records
    for aspect in ledger.aspects.values():
        if aspect.id in covered or aspect.state not in ANSWERING:
            continue
        cited = [
            sum(
                aspect.id in records[i].answers
                for said in section.statements
                for i in said.evidence
                if i in records
            )
            for section in result
        ]
        if any(cited):
            at = cited.index(max(cited))
            result[at] = replace(result[at], covers=(*result[at].covers, aspect.id))
    return tuple(result)


def heading_of(text: str) -> str:
    """Return a heading without the marks of one, ids and what ends a sentence."""
    return without_ids(_HEAD.sub("", text)).rstrip(".:")


def steps_of(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the texts of steps, each with the head that it stands under, "" without one."""
    found, head = list[tuple[str, str]](), ""
    for text in texts:
        if _HEAD.match(text):
            head = heading_of(text)
        else:
            found.append((without_references(text), head))
    return found


def open_number(text: str) -> int:
    """Return the number of the open point that a text stands for, 0 if it is a sentence."""
    found = _OPEN.fullmatch(text)
    return int(found[1]) if found else 0
