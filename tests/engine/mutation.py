"""Changes a rule in memory and runs single tests against the change, in this process."""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from tests.support.virtual_time import VirtualTimeLoop

Test = Callable[..., Any]
CONSTANTS = (int, float, str, tuple, frozenset, re.Pattern)


@contextmanager
def mutated(module: ModuleType, old: str, new: str) -> Iterator[None]:
    """The module with one place of its source changed, for the length of the block.

    Functions keep their identity, so that whoever imported one runs the changed code.
    """
    source = inspect.getsource(module)
    assert source.count(old) == 1, f"{module.__name__} holds {source.count(old)} times: {old}"
    fresh = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(source.replace(old, new), str(module.__file__), "exec"), fresh)
    codes, constants = _changes(module, fresh)
    assert codes or constants, f"nothing changed by {new}"
    before = [(function, function.__code__) for function, _ in codes]
    values = {name: getattr(module, name) for name in constants}
    _apply(module, codes, constants)
    try:
        yield
    finally:
        _apply(module, before, values)


def _changes(
    module: ModuleType, fresh: dict[str, Any]
) -> tuple[list[tuple[FunctionType, CodeType]], dict[str, Any]]:
    own, new = _functions(vars(module), module), _functions(fresh, module)
    codes = [
        (function, new[name].__code__)
        for name, function in own.items()
        if function.__code__ != new[name].__code__
    ]
    constants = {
        name: value
        for name, value in fresh.items()
        if isinstance(value, CONSTANTS)
        and not name.startswith("__")
        and value != getattr(module, name)
    }
    return codes, constants


def _functions(names: dict[str, Any], module: ModuleType) -> dict[str, FunctionType]:
    """Functions and methods of a module by their place in it, through caches and properties."""
    found = {}
    for name, value in names.items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        members = vars(value).items() if isinstance(value, type) else [("", value)]
        for member, each in members:
            plain = getattr(each, "fget", None) or getattr(each, "__func__", each)
            plain = inspect.unwrap(plain) if callable(plain) else plain
            if isinstance(plain, FunctionType):
                found[f"{name}.{member}"] = plain
    return found


def _apply(
    module: ModuleType, codes: list[tuple[FunctionType, CodeType]], constants: dict[str, Any]
) -> None:
    for function, code in codes:
        function.__code__ = code
    for name, value in constants.items():
        setattr(module, name, value)
    for other in [m for n, m in sys.modules.items() if n.startswith("research.engine")]:
        for value in vars(other).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def fails(test: Test) -> bool:
    """Whether a test fails for any of its cases; only `parametrize` is known, no fixture."""
    for case in _cases(test):
        try:
            result = test(**case)
            if inspect.isawaitable(result):
                with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
                    runner.run(result)  # type: ignore[arg-type]
        except (Exception, pytest.fail.Exception):
            return True
    return False


def _cases(test: Test) -> Iterator[dict[str, Any]]:
    sets = []
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    for mark in marks:
        names, values = mark.args
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
        rows = [value if len(names) > 1 else (value,) for value in values]
        sets.append([dict(zip(names, row, strict=True)) for row in rows])
    for parts in product(*sets):
        yield {name: value for part in parts for name, value in part.items()}
