"""The benchmarks use the engine from outside: nothing private, and nothing replaced by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import bench

SOURCES = sorted(Path(bench.__path__[0]).rglob("*.py"))


def imported() -> Iterator[tuple[str, str]]:
    """Module and name of every import of a benchmark."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)


def test_no_benchmark_imports_a_private_name_of_the_product() -> None:
    found = [pair for pair in imported() if pair[0].startswith("research.")]
    assert found and not [pair for pair in found if pair[1].startswith("_")]


FILTERS = {"injection"}
"""Benchmarks that switch off a filter of single sentences, which no rule of a run reaches."""


def test_no_benchmark_replaces_a_part_of_the_product_by_name() -> None:
    """A name that was changed would be replaced to no effect; `Rules` has a field for each part."""
    assert len(SOURCES) > 50
    patching = {path for path in SOURCES if "unittest.mock" in path.read_text()}
    assert {path.parent.name for path in patching} <= FILTERS
    assert not [source for source in SOURCES if "setattr(" in source.read_text()]
