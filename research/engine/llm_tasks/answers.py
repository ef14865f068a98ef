"""Base schema of model answers, with lenient parsing of common deviations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

_ID = re.compile(r"\b[A-Z]\d+\b")
_NUMBERED = re.compile(r"[\[(#\s]*(-?\d+)[\])\s]*")


class Answer(BaseModel):
    """Base of all answer schemas; additional fields are ignored, missing ones are an error.

    Read leniently: keys in another spelling, a number as a string or the reverse, one item instead
    of a list, the only list without its object, null for nothing.
    """

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, found: Any) -> Any:
        fields = cls.model_fields
        if isinstance(found, list) and len(fields) == 1:
            found = {next(iter(fields)): found}
        if not isinstance(found, dict):
            return found
        spelled = {_fold_name(key): value for key, value in reversed(found.items())}
        wanted = {name: spelled[_fold_name(name)] for name in fields if _fold_name(name) in spelled}
        wanted |= {name: found[name] for name in fields if name in found}
        return {name: _coerce_value(value, fields[name]) for name, value in wanted.items()}


def parts_of(found: Any) -> Iterator[Any]:
    """Yield the parts that an answer may be wrapped in: a list of one, or an object with a
    comment.
    """
    within = found if isinstance(found, list) and len(found) == 1 else ()
    values = found.values() if isinstance(found, dict) else within
    yield from (value for value in values if isinstance(value, dict))


def id_in(text: str) -> str:
    """Return an id that was written with its brackets, or with words about it."""
    found = _ID.search(text.upper())
    return found[0] if found else text


@lru_cache(maxsize=1_000)
def _fold_name(name: Any) -> str:
    return re.sub(r"[\W_]", "", str(name)).lower()


def _coerce_value(value: Any, field: FieldInfo) -> Any:
    wanted = field.annotation
    if get_origin(wanted) is list:
        parts = [] if value is None else value if isinstance(value, list) else [value]
        return [_parse_number(part) for part in parts] if get_args(wanted) == (int,) else parts
    if wanted is str and value is None:
        return ""
    return _parse_number(value) if wanted is int else value


def _parse_number(value: Any) -> Any:
    """Return a number that was copied with its brackets."""
    found = _NUMBERED.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found and len(found[1]) < 10 else value


class CellAnswer(Answer):
    """A value of a comparison table and the ids of its evidence."""

    entity: str
    property: str
    value: str
    evidence: list[str]


class ComputedStatement(Answer):
    """The number of a statement, and the operation and evidence that it is computed by."""

    statement: int
    operation: str
    evidence: list[str]


class DraftAnswer(Answer):
    """Sentences with the ids of their evidence in brackets. An id alone means the claim of its
    record, a number in the short answer the statement with that number, counted from 1. `newer`
    and `disagree` are pairs of ids, as in a comparison of the findings.
    """

    statements: list[str]
    short_answer: list[str]
    computed: list[ComputedStatement] = Field(default_factory=list)
    newer: list[list[str]] = Field(default_factory=list)
    disagree: list[list[str]] = Field(default_factory=list)


class TabledDraftAnswer(DraftAnswer):
    """A draft with the table of what its question compares."""

    cells: list[CellAnswer] = Field(default_factory=list)


class OpenDraftAnswer(DraftAnswer):
    """A draft that names what it leaves open."""

    open: list[str] = Field(default_factory=list)


class TabledOpenDraftAnswer(TabledDraftAnswer, OpenDraftAnswer):
    """A draft with a table that names what it leaves open."""


class SectionAnswer(Answer):
    """A section: its heading, the ids of the sub-questions that it is on, and its sentences."""

    heading: str = ""
    on: list[str] = Field(default_factory=list)
    statements: list[str] = Field(default_factory=list)


class WholeDraftAnswer(OpenDraftAnswer):
    """A draft with a verdict, what it leaves open and, where the question asks what to do, steps
    for its asker. `spare` are numbers of statements, the one that can be left out first before the
    others. It has `sections`; `statements` are accepted as well, as runs before `Form.EDITED` have
    them, but not asked for.
    """

    statements: SkipJsonSchema[list[str]] = Field(default_factory=list)
    short_answer: list[str] = Field(default_factory=list)
    sections: list[SectionAnswer] = Field(default_factory=list)
    verdict: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    spare: list[int] = Field(default_factory=list)


class TabledWholeDraftAnswer(TabledDraftAnswer, WholeDraftAnswer):
    """The same with a table."""


class FigureAnswer(Answer):
    name: str
    value: str
    evidence: list[str]


class RecalledAnswer(Answer):
    """An earlier value mentioned by a finding."""

    finding: str
    value: str


class ChangeAnswer(Answer):
    """A change: its name, its values in the findings' wording, and the ids of their evidence."""

    what: str
    before: str
    now: str
    since: str = ""
    old: list[str]
    new: list[str]


class CompareAnswer(Answer):
    """Pairs of ids, earlier values, the table and key figures; both lists of names are empty if
    nothing is compared.
    """

    newer: list[list[str]]
    disagree: list[list[str]]
    earlier: list[RecalledAnswer] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list)
    properties: list[str] = Field(default_factory=list)
    cells: list[CellAnswer] = Field(default_factory=list)
    figures: list[FigureAnswer] = Field(default_factory=list)


class ChangesAnswer(CompareAnswer):
    """A comparison for a question that asks what has changed."""

    changes: list[ChangeAnswer] = Field(default_factory=list)


class SiteAnswer(Answer):
    """A site by its host, and what kind of publisher it is."""

    host: str
    kind: str


class SitesAnswer(CompareAnswer):
    """A comparison of findings from sites of unknown kinds."""

    sites: list[SiteAnswer] = Field(default_factory=list)


class ChangesAndSitesAnswer(ChangesAnswer, SitesAnswer):
    """A comparison with what has changed and the kinds of sites."""


class FinalAnswer(ChangesAnswer):
    """A comparison with what has changed and the ids of old findings that nothing can change."""

    final: list[str] = Field(default_factory=list)


class FinalAndSitesAnswer(FinalAnswer, SitesAnswer):
    """The same with the kinds of sites."""
