"""The report in another shape (rule F12): what a model is told, and what code does by itself."""

from __future__ import annotations

from dataclasses import replace

from research.engine.draft import Draft
from research.engine.seed import Shape

LENGTHS = {"shorter": "at most 200", "longer": "1,500 to 2,500", "table": "at most 300"}
FORMS = {
    "shorter": "As short as it can be: the answer, and one statement for each sub-question.",
    "longer": "In depth: use all of the evidence, with its conditions, figures and examples.",
    "table": "A table, made later: one or two plain statements for each sub-question.",
    "reader": "For this reader, in words and with an emphasis that fit: {reader}",
}
ROOM = {"shorter": 1, "table": 2}
BY_CODE = frozenset({"full", *ROOM})
"""The shapes that code can give without a model."""


def wanted_length(shape: Shape, usual: str) -> str:
    return LENGTHS.get(shape.form, usual)


def wanted_form(shape: Shape, planned: str) -> str:
    """The plan's own form, and what the shape asks for beside it."""
    asked = FORMS.get(shape.form, "").format(reader=shape.reader)
    return "\n".join(filter(None, (planned, asked)))


def shaped(draft: Draft, shape: Shape) -> Draft:
    """Sections cut to the statements that the shape has room for, best first as drafted."""
    room = ROOM.get(shape.form)
    if room is None:
        return draft
    cut = (replace(each, statements=each.statements[:room]) for each in draft.sections)
    return replace(draft, sections=tuple(cut))
