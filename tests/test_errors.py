"""Every exception of the product has one root, and says by its name that it is an error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from research.errors import PlumblineError

ROOT = Path(__file__).parents[1]
BROAD = re.compile(r"\bexcept(:| (Base)?Exception\b)")


@cache
def classes() -> list[tuple[str, str, list[str]]]:
    """Return place, name and bases of each class of the product."""
    return [
        (
            f"{path.relative_to(ROOT)}: {node.name}",
            node.name,
            [ast.unparse(base).rpartition(".")[2] for base in node.bases],
        )
        for folder in ("research", "dashboard", "plumbline", "config")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]


def test_no_exception_is_derived_from_exception_itself() -> None:
    strays = [
        place
        for place, name, bases in classes()
        if {"Exception", "RuntimeError"} & {*bases} and name != PlumblineError.__name__
    ]
    assert strays == []


def test_exceptions_are_named_errors() -> None:
    found = classes()
    exceptions = {"CommandError", PlumblineError.__name__}
    while True:
        more = {name for _, name, bases in found if exceptions & {*bases}}
        if more <= exceptions:
            break
        exceptions |= more
    strays = {name for _, name, _ in found if name in exceptions and not name.endswith("Error")}
    assert strays == set()


def broad_clauses() -> Iterator[tuple[str, ast.ExceptHandler, list[str]]]:
    """Yield place, clause and source lines of each clause that catches any exception."""
    for folder in ("research", "dashboard", "plumbline", "config", "scripts"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            if not BROAD.search(text):
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ExceptHandler) and (
                    node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
                ):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield place, node, text.splitlines()


def test_broad_clauses_raise_again_or_say_why() -> None:
    strays = [
        place
        for place, node, lines in broad_clauses()
        if not isinstance(node.body[-1], ast.Raise)
        and not any("#" in line for line in lines[node.lineno - 2 : node.lineno])
    ]
    assert strays == []
