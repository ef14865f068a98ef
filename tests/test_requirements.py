"""Each requirement of `docs/requirements.md` is held by tests that name it, and none is unknown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.engine.test_rules_bite import TABLE

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs/requirements.md"
NOT_BUILT = "Not built"


def listed() -> dict[str, str]:
    row = r"^\| ([A-F]\d+|settings) \| (.+) \|$"
    return dict(re.findall(row, PAGE.read_text(), re.MULTILINE))


def is_marker(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement"


def named() -> Iterator[str]:
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            for decorator in getattr(node, "decorator_list", []):
                if is_marker(decorator):
                    yield from (ast.literal_eval(each) for each in decorator.args)


def test_every_requirement_that_is_built_has_a_test() -> None:
    built = {id for id, what in listed().items() if not what.startswith(NOT_BUILT)}
    assert built - set(named()) == set()


def test_no_test_names_a_requirement_that_is_not_built_or_not_listed() -> None:
    unknown = set(named()) | {mutation.rule for mutation in TABLE}
    built = {id for id, what in listed().items() if not what.startswith(NOT_BUILT)}
    assert unknown - built == set()
