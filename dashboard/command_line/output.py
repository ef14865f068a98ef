"""Results on standard output: a table for people, or one JSON value for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from django.core.management.base import CommandError, OutputWrapper
from rich.console import Console
from rich.table import Table

BAD_USE = 2
WIDTH = 120


class BadUseError(CommandError):
    """A request that can't be fulfilled; exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=BAD_USE)


def print_json(stdout: OutputWrapper, value: Any) -> None:
    stdout.write(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def print_rows(
    stdout: OutputWrapper, rows: Sequence[dict[str, Any]], columns: Sequence[str], empty: str
) -> None:
    """Print these columns of the rows as a table; `empty` if there are none."""
    if not rows:
        stdout.write(empty)
        return
    table = Table(*columns, box=None, pad_edge=False, show_edge=False)
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    Console(file=stdout, width=WIDTH, markup=False, highlight=False).print(table)


def show(
    stdout: OutputWrapper, value: Any, *, as_json: bool, shorten: Callable[[Any], str]
) -> None:
    """Print a value as JSON, or what `shorten` makes of it."""
    if as_json:
        print_json(stdout, value)
    else:
        stdout.write(shorten(value))


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
