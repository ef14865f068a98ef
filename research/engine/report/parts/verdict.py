"""Opening of a broad question's short answer, derived from the table of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from research.engine.assessment.answer_status import Tally
from research.engine.evidence.relations import Relations
from research.engine.report.draft import Statement
from research.engine.report.parts.comparison import extremes_of
from research.engine.report.report_i18n import Labels
from research.engine.text.tokens import capitalize_heading, unique_texts

LONGEST_VERDICT = 45
"""Words up to which the lowest values are named beside the highest."""
MOST_NAMED = 4
"""Parts of the question on which sources disagree that are named."""


def verdict_of(relations: Relations, words: Labels, language: str) -> Statement | None:
    """Return a statement on the highest and lowest values of the comparison, if there are any.

    Where several lead, it depends on what counts.
    """
    found = {
        name: ends
        for name in relations.properties
        if (ends := extremes_of(relations, name, language))
    }
    if not found:
        return None
    leads, trails = ({name: ends[at] for name, ends in found.items()} for at in (1, 0))
    highest, lowest = (
        _told(ends, words[form], words["and"])
        for ends, form in ((leads, "highest_in"), (trails, "lowest_in"))
    )
    form = words["verdict_depends" if len({*leads.values()}) > 1 else "verdict_by_values"]
    text = form.format(told="; ".join((*highest, *lowest)))
    if len(text.split()) > LONGEST_VERDICT:
        text, trails = form.format(told="; ".join(highest)), {}
    cells = (
        relations.cells[thing, name] for ends in (leads, trails) for name, thing in ends.items()
    )
    evidence = unique_texts(i for cell in cells for i in cell.evidence)
    return Statement(text, tuple(evidence), is_column=True, is_verdict=True)


def _told(ends: Mapping[str, str], form: str, last: str) -> list[str]:
    """Return a clause for each thing, with the properties that it has the end of."""
    by_thing: dict[str, list[str]] = {}
    for name, thing in ends.items():
        by_thing.setdefault(thing, []).append(name)
    return [
        form.format(thing=thing, names=last.join(filter(None, (", ".join(names[:-1]), names[-1]))))
        for thing, names in by_thing.items()
    ]


def status_of(
    words: Labels,
    counted: Tally,
    disputed: Sequence[str],
    missing: Sequence[str],
    marks_many: bool = False,
    partly: Sequence[str] = (),
) -> str:
    """Return in a sentence how many parts of a question are answered unless all are, which only
    `partly`, on which of them sources disagree, and on which nothing was found; "" if all are
    answered and nothing is disputed.

    More disputes than it names are counted; all of them if it `marks_many` beside their parts.
    """
    is_all = counted.answered == counted.total
    if is_all and not disputed:
        return ""
    is_many = marks_many and len(disputed) > MOST_NAMED
    told = words["parts_all" if is_all else "parts_some"]
    clauses = [told.format(n=counted.answered, all=counted.total)] if is_many or not is_all else []
    if is_many:
        clauses.append(words["disagree_on_many"].format(n=len(disputed)))
    elif disputed:
        names = _listed(disputed, words, MOST_NAMED)
        clauses.append(words["disagree_on"].format(names=names))
    if partly:
        clauses.append(words["partly_on"].format(names=_listed(partly, words, len(partly))))
    if missing:
        clauses.append(words["nothing_on"].format(names=_listed(missing, words, len(missing))))
    return words["clauses"].format(clauses=capitalize_heading("; ".join(clauses)))


def _listed(names: Sequence[str], words: Labels, most: int) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:most])
    more = len(names) - most
    return words["and_more"].format(names=shown, n=more) if more > 0 else shown
