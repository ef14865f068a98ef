"""Relations between the findings of a run: newer values, changes and a comparison table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Cell:
    """A checked value of a comparison and the ids of the evidence that has it."""

    value: str
    evidence: tuple[str, ...]


Place: TypeAlias = tuple[str, str]
"""A thing and a property: the place of a cell."""
Table: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], Mapping[Place, Cell]]
"""Things, properties and the cells that are known."""


@dataclass(frozen=True)
class KeyFigure:
    """A checked figure that a reader should know: what it counts, its value, its date ("" if it is
    unknown) and the ids of the evidence that has it.
    """

    name: str
    value: str
    date: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class ToldChange:
    """A checked change: what has changed, its value before and now in the words of findings, the
    date that they give for it ("" if none does), and the ids of the evidence of both values.
    """

    what: str
    before: str
    now: str
    since: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Relations:
    """`replaced` maps the id of an outdated record to that of the record with the newer value.

    `cells` maps pairs of entity and property; `figures` are key figures beside them. `recalled` has
    the amounts that a record gives as earlier ones, beside current ones. `doubted` maps records
    with a figure that the comparison calls outdated, though neither dates nor a checked claim show
    it, to those with the other figure. `changes` are the rows of the table of changes,
    `more_changes` those that it has no room for. `matters` says in few words what pairs of records
    disagree on, `holders` who holds the view of a record by its quotes. `final` has the ids of
    records that nothing later can change, as what happened once. `is_known` is True if a model
    compared the findings. `proposed` has all rows, columns and checked cells of the comparison, and
    `doubtful` those that word their evidence differently and are still to be verified.
    """

    is_known: bool = False
    replaced: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    cells: Mapping[Place, Cell] = field(default_factory=dict)
    figures: tuple[KeyFigure, ...] = ()
    recalled: Mapping[str, frozenset[str]] = field(default_factory=dict)
    doubted: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[ToldChange, ...] = ()
    more_changes: tuple[ToldChange, ...] = ()
    matters: Mapping[tuple[str, str], str] = field(default_factory=dict)
    holders: Mapping[str, str] = field(default_factory=dict)
    final: frozenset[str] = frozenset()
    proposed: Table = field(default_factory=lambda: NO_TABLE)
    doubtful: Mapping[Place, Cell] = field(default_factory=dict)

    @property
    def tables(self) -> list[str]:
        """Return what the tables of a report hold: a line for each thing compared, with the values
        that are still to be verified, and one on what the table of changes is on.
        """
        changed = f"before and now: {'; '.join(change.what for change in self.changes)}"
        has_changes = len(self.changes) >= LEAST_CHANGES
        table: Table = (self.entities, self.properties, self.cells)
        if self.doubtful:
            rows, columns, known = self.proposed
            table = well_filled((rows, columns, {**self.doubtful, **known}), least_of_row=1)
        return [_told_of(entity, table) for entity in table[0]] + [changed] * has_changes


def _told_of(entity: str, table: Table) -> str:
    _, properties, cells = table
    told = ((name, cells.get((entity, name))) for name in properties)
    return f"{entity}: {'; '.join(f'{name}: {cell.value}' for name, cell in told if cell)}"


NO_TABLE: Table = ((), (), {})
LEAST_VALUES, LEAST_CHANGES = 2, 2
"""Fewest values of a row or column of a comparison, and rows of a table of changes."""


def well_filled(table: Table, least_of_row: int = LEAST_VALUES) -> Table:
    """Return a table without columns of fewer than two values and rows of fewer than
    `least_of_row`, of one where it has only one column; nothing if less than half of the rest is
    filled.
    """
    rows, columns, cells = table
    by_column = Counter(column for _, column in cells)
    kept_columns = tuple(name for name in columns if by_column[name] >= LEAST_VALUES)
    by_row = Counter(row for row, column in cells if column in kept_columns)
    least = min(least_of_row, len(kept_columns))
    kept_rows = tuple(name for name in rows if by_row[name] >= least)
    kept = {
        place: cell
        for place, cell in cells.items()
        if place[0] in kept_rows and place[1] in kept_columns
    }
    if (kept_rows, kept_columns) != (rows, columns):
        return well_filled((kept_rows, kept_columns, kept), least_of_row)
    is_table = len(rows) >= LEAST_VALUES and 2 * len(cells) >= len(rows) * len(columns)
    return table if cells and is_table else NO_TABLE
