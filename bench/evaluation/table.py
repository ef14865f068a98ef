"""Renders the figures as text tables."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table

BY_ROUND = (
    ("gold pages fetched", "recall", ".3f"),
    ("whole chain", "whole_chain", ".3f"),
    ("gold pages named by a search", "named", ".3f"),
    ("gold text quoted", "quoted", ".3f"),
    ("searches", "searches", ".1f"),
    ("pages fetched", "fetches", ".1f"),
    ("model calls", "calls", ".1f"),
    ("tokens", "tokens", ".0f"),
    ("seconds", "seconds", ".2f"),
)
STOPPING = (
    ("mean rounds", "mean_rounds", ".2f"),
    ("rounds with hindsight", "hindsight_rounds", ".2f"),
    ("premature", "premature", ".3f"),
    ("late", "late", ".3f"),
    ("exact", "exact", ".3f"),
    ("gold pages fetched at the stop", "recall", ".3f"),
    ("whole chain at the stop", "whole_chain", ".3f"),
)


def render(result: dict[str, Any]) -> RenderableType:
    """Return all tables: the total first, followed by each file."""
    groups = {"all": result}
    if len(result["by_file"]) > 1:
        groups.update(result["by_file"])
    parts: list[RenderableType] = [_head(result)]
    if result["questions"]:
        parts += [_by_round(result), _side_by_side(groups), _notes(result)]
    parts += [f"Broken: {each['id']}: {each['fault']}" for each in result["failed"]]
    return Group(*parts)


def write(console: Console, result: dict[str, Any]) -> None:
    console.print(render(result), highlight=False, markup=False)


def _head(result: dict[str, Any]) -> str:
    return (
        f"{result['questions']} questions over {result['pages']} pages, "
        f"analyst {result['analyst']}, {result['seconds']:.0f} s\n"
    )


def _by_round(result: dict[str, Any]) -> Table:
    table = _table("Forced to full depth: sums after each round, means a question")
    for each in result["rounds"]:
        table.add_column(f"round {each['round']}", justify="right")
    for label, name, form in BY_ROUND:
        table.add_row(label, *(format(each[name], form) for each in result["rounds"]))
    return table


def _side_by_side(groups: dict[str, Any]) -> Table:
    table = _table("The stop rule, and the report that it leads to")
    for name in groups:
        table.add_column(name, justify="right")
    for label, name, form in STOPPING:
        table.add_row(label, *(format(g["stopping"][name], form) for g in groups.values()))
    for label, name in (("rounds", "at_equal_rounds"), ("pages fetched", "at_equal_fetches")):
        gains = [_gain(group["stopping"][name]) for group in groups.values()]
        table.add_row(f"recall gained on equal {label} at a fixed depth", *gains)
    table.add_row("short answer holds a known answer", *map(_answer, groups.values()))
    table.add_row("report holds it", *(str(g["answers"]["report_holds"]) for g in groups.values()))
    table.add_row("quote precision", *map(_precision, groups.values()))
    return table


def _gain(versus: dict[str, float]) -> str:
    return f"{versus['gain']:+.3f} ({versus['low']:+.3f} to {versus['high']:+.3f})"


def _answer(group: dict[str, Any]) -> str:
    answers = group["answers"]
    return f"{answers['short_answer_holds']} of {answers['applicable']}"


def _precision(group: dict[str, Any]) -> str:
    quotes = group["quotes"]
    share = "–" if quotes["precision"] is None else format(quotes["precision"], ".3f")
    return f"{share} of {quotes['checked']}"


def _notes(result: dict[str, Any]) -> str:
    stopping, answers = result["stopping"], result["answers"]
    fixed = ", ".join(format(share, ".3f") for share in stopping["premature_at_fixed"])
    lines = [
        f"Reasons to stop: {_counts(stopping['reasons'])}.",
        f"A fixed depth of 1, 2, 3, 4 rounds would be premature in {fixed}.",
        f"Decided over the forced run's journal: {stopping['replayed']}; "
        f"searched otherwise and run live: {stopping['run_live']}.",
        f"Yes or no questions, left out of the short answers: {answers['yes_no']}.",
    ]
    if stopping["forced_ended_early"]:
        early = _counts(stopping["forced_ended_early"])
        lines.append(f"Forced runs that found no way to go on: {early}.")
    return "\n".join(lines)


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found.items())


def _table(title: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, title_justify="left")
    table.add_column("")
    return table
