"""Every object of a module that threads could change or share is known, and safe.

What is written at import and only read later needs no care. The rest is listed here: tables that
a function changes, and objects of other kinds. Who adds one says why threads may share it.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import importlib
import inspect
import pkgutil
import re
import types
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from markdown_it import MarkdownIt

import dashboard
import research
from dashboard.markdown.parsing import new_parser
from dashboard.markdown.report import render_markdown
from research.engine.untrusted.order_words import order_words
from tests.support.threads import in_threads

ROOT = Path(__file__).parents[1]
CHANGES = {
    "append", "add", "appendleft", "update", "setdefault", "pop", "popitem", "clear", "extend",
    "insert", "remove", "discard",
}  # fmt: skip
CHANGED = {
    (
        "research/services/api_tokens.py",
        "_kept",
    ),  # replaced as a whole, or one key set
    ("research/worker/notify.py", "_heard_at"),  # one assignment of a number
    ("dashboard/live/progress_publisher.py", "_watching"),  # list append and remove; read as a copy
    ("dashboard/live/hub.py", "_hubs"),  # under its lock
}
SHARED = {
    "MarkdownIt": "its rules are compiled at import, a parse has its own state; tested below",
    "Environment": "jinja2 locks its cache of templates; tested in tests/engine/test_threads.py",
    "JSONDecoder": "one call of C code at a time; tested in tests/engine/test_threads.py",
    "TypeAdapter": "pydantic builds it at import and only reads it",
    "ResearchConfig": "a frozen model",
    "Fraction": "is never changed",
    "IPv4Network": "is never changed",
    "IPv6Network": "is never changed",
    "SearchFailedError": "only its reason is read; it is never raised",
    "Parts": "belongs to one event loop but for the index, which is created under its lock",
    "Signal": "locks by itself",
    "DatabaseSyncToAsync": "keeps nothing of a call",
    "Registry": "of export formats, filled once by import",
    "_Registry": "of search providers, filled once by import",
    "StorageHandler": "keeps one storage per alias; storages keep nothing of a call",
    "EmailValidator": "is never changed",
    "URLPattern": "routes are added at import only",
    "ConnectionHandler": "Django gives each thread its own connections",
    "ConnectionProxy": "Django gives each thread its own connections",
    "LazySettings": "read only once the process has started",
    "Library": "filled at import",
    "Logger": "locks by itself",
    "CollectorRegistry": "locks by itself",
    "Counter": "of Prometheus, locks by itself",
    "Gauge": "locks by itself",
    "Histogram": "locks by itself",
    "NinjaAPI": "routes are added at import only",
    "PlumblineAPI": "routes are added at import only",
    "Router": "routes are added at import only",
    "ParamShortcut": "keeps nothing of a call",
    "ToolAnnotations": "a model that is only read",
    "McpEndpoint": "belongs to one event loop",
    "SyncToAsync": "keeps nothing of a call",
    "count": "next() is one call of C code",
    "ContextVar": "has a value for each task and thread",
    "lock": "is one",
    "__proxy__": "Django's lazy text, translated at each use",
    "object": "a mark that is only compared",
    "AsyncioSelectorReactor": "used by its own thread",
    "InterfaceClass": "a declaration",
    "partial": "a function",
    "method": "a function",
    "_lru_cache_wrapper": "Python locks it; what it caches can't be changed, as tested below",
}
PLAIN = (
    int, float, complex, str, bytes, type(None), frozenset, re.Pattern, type, types.FunctionType,
    types.BuiltinFunctionType, types.ModuleType, enum.Enum, Path, dict, list, set,
)  # fmt: skip
TYPING = {"typing", "types", "__future__", "datetime", "decimal", "collections.abc"}


def modules() -> Iterator[types.ModuleType]:
    for package in (research, dashboard):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations" not in found.name and not found.name.endswith(".asgi"):
                yield importlib.import_module(found.name)


def leaves(value: Any) -> Iterator[Any]:
    """What a tuple of tuples holds, or the value itself."""
    if type(value) is tuple:
        for each in value:
            yield from leaves(each)
    else:
        yield value


def is_plain(value: Any) -> bool:
    frozen = dataclasses.is_dataclass(value) and value.__dataclass_params__.frozen  # type: ignore[union-attr]
    return isinstance(value, PLAIN) or bool(frozen) or type(value).__module__ in TYPING


def test_every_object_that_threads_share_is_known_to_be_safe() -> None:
    unknown = {
        (type(each).__name__, module.__name__, name)
        for module in modules()
        for name, value in vars(module).items()
        for each in leaves(value)
        if not (name.startswith("__") or is_plain(each) or type(each).__name__ in SHARED)
    }
    assert sorted(unknown) == []


@pytest.mark.slow
def test_every_table_that_a_function_changes_is_known_to_be_safe() -> None:
    found: set[tuple[str, str]] = set()
    for package in ("research", "dashboard"):
        for file in sorted((ROOT / package).rglob("*.py")):
            changed = changed_tables(ast.parse(file.read_text()))
            found |= {(str(file.relative_to(ROOT)), name) for name in changed}
    assert found == CHANGED


def changed_tables(module: ast.Module) -> set[str]:
    """Names of the module that one of its functions rebinds or changes in place."""
    own = {name.id for each in module.body for name in targets(each)}
    changed: set[str] = set()
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = list(ast.walk(function))
        changed |= {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        local = {node.arg for node in nodes if isinstance(node, ast.arg)}
        local |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        changed |= {name for name in map(changed_by, nodes) if name in own - local}
    return changed


def targets(statement: ast.stmt) -> list[ast.Name]:
    names = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return [name for name in names if isinstance(name, ast.Name)]


def changed_by(node: ast.AST) -> str:
    """The name whose object this changes in place; '' where it changes none."""
    where: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        where = node.value
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
    ):
        where = node.func.value
    return where.id if isinstance(where, ast.Name) else ""


def test_a_table_that_is_changed_is_found() -> None:
    lines = ("A, D = {}, 1", "A = {}", "B = []", "C = {}", "def f(C):", " A['x'] = 1")
    source = "\n".join((*lines, " B.append(1)", " C.pop(1)"))
    assert changed_tables(ast.parse(source)) == {"A", "B"}
    rebinds = "D = 1\n\ndef f():\n    global D\n    D = 2\n"
    assert changed_tables(ast.parse(rebinds)) == {"D"}


# --- what caches return ---------------------------------------------------------------------

CONSTANT = (
    str, int, float, bytes, type(None), enum.Enum, re.Pattern, Fraction, tuple, frozenset,
    types.MappingProxyType,
)  # fmt: skip
RETURNED = {
    ("research.engine.text.offload._texts", "ThreadPoolExecutor"): "locks by itself",
    ("dashboard.api.events._build", "Progress"): "a payload that is only encoded",
    ("dashboard.live.progress_publisher._in_a_thread", "Sender"): "is one thread's",
    ("dashboard.queries.queries._head_query", "Any"): "numbers and texts of a query",
    ("dashboard.serving.probes._probe_thread", "ThreadPoolExecutor"): "locks by itself",
    ("dashboard.serving.probes.readiness", "Readiness"): "belongs to one event loop",
    ("research.engine.llm_tasks.prompting.ask._strict_schema", "dict"): "a schema, copied by"
    " whoever sends it and encoded",
    ("research.engine.llm_tasks.prompting.ask._strict_schema", "Any"): "the same",
    ("research.engine.offline.passages.passage_model.passage_model", "Mapping"): "weights, which"
    " nobody may set by their type",
    ("research.engine.offline.passages.passage_signs.passages_of", "_Counted"): "its methods only"
    " read it",
    ("research.engine.untrusted.addresses._suffixes", "TLDExtract"): "only asked, its table is"
    " complete",
    (
        "research.engine.untrusted.order_model._ceilings",
        "Ceilings",
    ): "its weights are only read, and its caches lock by themselves",
    ("research.engine.verifier.canary_kinds._changeable", "Match"): "is never changed",
    ("research.fetch.sites._suffixes", "TLDExtract"): "the same",
    ("research.runtime.source_choices._network", "NetworkProbe"): "assigns one result at a time",
    ("research.fetch.network.model_tls_context", "SSLContext"): "the same",
    ("research.fetch.network.tls_context", "SSLContext"): "OpenSSL counts its uses under a lock",
}
"""What caches return that could be changed, with the reason why threads may share it."""


def caches() -> Iterator[tuple[str, Any]]:
    """The functions and methods whose values are kept, with their names."""
    for module in modules():
        for name, value in vars(module).items():
            members = vars(value).items() if isinstance(value, type) else [("", value)]
            for member, each in members:
                kept = getattr(each, "__func__", each)
                if (
                    isinstance(kept, functools._lru_cache_wrapper)
                    and kept.__module__ == module.__name__
                ):
                    yield f"{module.__name__}.{name}.{member}".rstrip("."), kept


def returned(function: Any) -> Any:
    """What a function is declared to return; a name that only mypy knows as a type so called."""
    plain = inspect.unwrap(function)
    declared = plain.__annotations__["return"]
    try:
        return eval(declared, plain.__globals__)
    except NameError:
        return type(declared, (), {})


def changeable(declared: Any, within: frozenset[Any] = frozenset()) -> Iterator[str]:
    """The parts of a declared type whose objects could be changed by whoever has them."""
    kind, parts = get_origin(declared) or declared, get_args(declared)
    if kind is Literal or kind is Ellipsis or kind in within:
        return
    if is_record(kind):
        parts += tuple(get_type_hints(kind).values())
    elif kind not in (Union, types.UnionType) and not issubclass(kind, CONSTANT):
        yield kind.__name__
    for part in parts:
        yield from changeable(part, within | {kind} if is_record(kind) else within)


def is_record(kind: Any) -> bool:
    """Whether this is a frozen dataclass or a named tuple."""
    frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return frozen or hasattr(kind, "_fields")


def test_what_a_cache_returns_can_t_be_changed_or_is_known_to_be_safe() -> None:
    found = {(name, part) for name, function in caches() for part in changeable(returned(function))}
    assert sorted(found - RETURNED.keys()) == []
    assert sorted(RETURNED.keys() - found) == []


@dataclasses.dataclass(frozen=True)
class Held:
    words: tuple[list[str], ...]
    inner: Held | None = None


@pytest.mark.parametrize(
    "declared, parts",
    [
        (dict[str, int], ["dict"]),
        (tuple[frozenset[str], set[str]], ["set"]),
        (types.MappingProxyType[str, defaultdict[str, int]], ["defaultdict"]),
        (Held | None, ["list"]),
        (tuple[re.Pattern[str], ...], []),
        (types.MappingProxyType[str, tuple[str, float]], []),
    ],
)
def test_what_can_be_changed_is_found(declared: Any, parts: list[str]) -> None:
    assert list(changeable(declared)) == parts


def test_words_of_orders_can_t_be_changed_by_who_reads_them() -> None:
    """Reading what isn't there made an entry in the table that all threads share."""
    found = order_words("ignore all previous instructions")["en"]
    with pytest.raises(KeyError):
        found.by_kind["no such kind"]
    with pytest.raises(TypeError):
        found.by_kind["verb"] = frozenset()  # type: ignore[index]


# --- the parser of reports ------------------------------------------------------------------

MARKDOWN = "## One\n\nIt *is* `so` [1].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> Said [2]."


@pytest.mark.parametrize("number", range(5))
def test_the_first_parses_of_a_parser_agree_in_four_threads(number: int) -> None:
    parser = new_parser()
    alone = new_parser().render(MARKDOWN)
    assert list(in_threads(lambda: parser.render(MARKDOWN))) == [alone] * 4


def test_a_parser_s_rules_are_compiled_before_threads_share_it() -> None:
    parser = new_parser()
    before = [rules.__cache__ for rules in rulers(parser)]
    parser.parse(MARKDOWN)
    assert None not in before
    assert before == [rules.__cache__ for rules in rulers(parser)]


def rulers(parser: MarkdownIt) -> list[Any]:
    return [parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2]


def test_reports_are_rendered_alike_in_four_threads() -> None:
    alone = render_markdown(MARKDOWN, lambda number, place: None)
    found = in_threads(
        lambda: [render_markdown(MARKDOWN, lambda number, place: None) for _ in range(10)]
    )
    assert list(found) == [[alone] * 10] * 4
