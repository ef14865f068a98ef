"""Which rows and columns of a comparison are worth a table."""

import pytest

from research.engine.evidence.relations import Cell, Table, well_filled


def table(*lines: str) -> Table:
    """Return a table with a value for each "x" of the lines."""
    rows = tuple(f"row {n}" for n in range(len(lines)))
    columns = tuple(f"column {n}" for n in range(len(lines[0])))
    cells = {
        (row, column): Cell("4", ("E1",))
        for row, line in zip(rows, lines, strict=True)
        for column, sign in zip(columns, line, strict=True)
        if sign == "x"
    }
    return rows, columns, cells


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        (("xx", "xx"), (2, 2)),
        (("xxx", "xx.", "xx."), (3, 2)),
        (("xxx", "xxx", "..x"), (2, 3)),
        (("x.", "x."), (2, 1)),
        (("x", "x", "."), (2, 1)),
        (("x.", ".x"), (0, 0)),
        (("x", "."), (0, 0)),
        (("xx.", "xx.", "x.x", "..x"), (2, 2)),
        (("xx....", "..xx..", "....xx", "x.x...", ".x..x.", "...x.x"), (0, 0)),
    ],
)
def test_rows_and_columns_of_one_value_are_left_out(
    lines: tuple[str, ...], size: tuple[int, int]
) -> None:
    rows, columns, cells = well_filled(table(*lines))
    assert (len(rows), len(columns)) == size
    assert all(row in rows and column in columns for row, column in cells)


def test_a_row_of_one_value_may_stay() -> None:
    rows, columns, cells = well_filled(table("xxx", "x.x", "..x", "..."), least_of_row=1)
    assert (len(rows), len(columns), len(cells)) == (3, 2, 5)
