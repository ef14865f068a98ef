"""No regular expression takes more than linear time over what it is given to read.

Every pattern of the modules is tried, every one that is written where it is used, and those that
functions put together, with names in the place of what is put in. A pattern that is only matched
at one place is tried there, any other over the whole text.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench import evaluation
from dashboard.contexts import lists
from dashboard.markdown.report import render_markdown
from research.documents import try_search
from research.engine.evidence.claims import clauses
from research.engine.llm_tasks.prompting import parse_json, stream_draft
from research.engine.offline import leads
from research.engine.offline.questions import question
from research.engine.report import draft
from research.engine.text import amounts, dates, entities, quantities, sentences
from research.engine.text import tokens as engine_text
from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError
from research.llm import capabilities
from research.search.providers import words
from tests.support.regexes import UNITS, Attack, Match, attacks, growth
from tests.test_shared_objects import modules

pytestmark = pytest.mark.slow

ANCHORED = frozenset({"match", "fullmatch"})
WHOLLY = frozenset({"fullmatch"})
CALLS = frozenset({"search", "sub", "subn", "findall", "finditer", "split", *ANCHORED})


@dataclass(frozen=True)
class Bound:
    """The most characters that a pattern is given, and what reads text with it."""

    most: int
    read: Match


WHOLE = {("research.search.providers.entries", "_FORMS")}
"""Tables whose patterns are only matched with a whole text."""


@dataclass(frozen=True)
class Found:
    """A pattern, and the ways in which it is used where they are known."""

    pattern: str
    flags: int
    uses: frozenset[str]

    def matches(self) -> list[Match]:
        compiled = re.compile(self.pattern, self.flags)
        if self.uses and self.uses <= ANCHORED:
            return [getattr(compiled, use) for use in sorted(self.uses)]
        return [lambda text: compiled.sub("", text)]


def of_module(module: types.ModuleType) -> dict[str, Found]:
    """The patterns of a module by their names; those in its tables and functions too."""
    if not module.__file__:
        return {}
    tree = ast.parse(Path(module.__file__).read_text())
    used = uses(tree)
    found = {
        (name if number == 0 else f"{name} {number}"): Found(
            each.pattern,
            each.flags,
            WHOLLY if (module.__name__, name) in WHOLE else used.get(name, frozenset()),
        )
        for name, value in vars(module).items()
        for number, each in enumerate(patterns(value))
        if isinstance(each.pattern, str)
    }
    examples = BUILT.get(module.__name__, dict)()
    return found | written_in_place(tree) | put_together(tree, vars(module)) | examples


def patterns(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns(tuple(value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from patterns(each)


def uses(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Return how names are called; empty for those handed on or kept in a table."""
    called: dict[str, set[str]] = {}
    attributed: set[ast.expr] = set()
    handed_on: set[str] = set()
    for node in ast.walk(tree):  # an attribute comes before the name that it belongs to
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributed.add(node.value)
            if node.attr in CALLS:
                called.setdefault(node.value.id, set()).add(node.attr)
        elif (
            isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in attributed
        ):
            handed_on.add(node.id)
    return {
        name: frozenset() if name in handed_on or not name.startswith("_") else frozenset(methods)
        for name, methods in called.items()
    }


def written_in_place(tree: ast.Module) -> dict[str, Found]:
    """Patterns in calls such as `re.sub(r"…", …)`."""
    found: dict[str, Found] = {}
    for node in ast.walk(tree):
        if (
            is_call_of_re(node, CALLS)
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.args[0], ast.Constant)
        ):
            use = node.func.attr
            found[f"re.{use}, line {node.lineno}"] = Found(
                node.args[0].value, flags_of(node), frozenset({use})
            )
    return found


def put_together(tree: ast.Module, names: dict[str, Any]) -> dict[str, Found]:
    """Patterns that functions make of text, such as `re.search(rf"\b{name}\b", text)`."""
    found = {}
    for call in built(tree):
        if isinstance(call.args[0], ast.JoinedStr):
            assert isinstance(call.func, ast.Attribute)
            use = "sub" if call.func.attr == "compile" else call.func.attr
            text = "".join(part_of(each, names) for each in call.args[0].values)
            found[f"re.{call.func.attr}, line {call.lineno}"] = Found(
                text, flags_of(call), frozenset({use})
            )
    return found


def built(tree: ast.Module) -> Iterator[ast.Call]:
    """Calls within functions that are given another pattern than one of the module's."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if is_call_of_re(node, {*CALLS, "compile"}):
                    assert isinstance(node, ast.Call)
                    if not isinstance(node.args[0], ast.Constant):
                        yield node


def part_of(piece: ast.expr, names: dict[str, Any]) -> str:
    """A part of an f-string: as it is, a text of the module, or a name for what is put in."""
    if isinstance(piece, ast.Constant):
        return str(piece.value)
    assert isinstance(piece, ast.FormattedValue)
    try:
        value = eval(ast.unparse(piece.value), dict(names))
    except NameError:
        return re.escape("Edda Marlow")
    return value if isinstance(value, str) else re.escape("Edda Marlow")


def is_call_of_re(node: ast.AST, methods: frozenset[str] | set[str]) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in methods
    )


def flags_of(call: ast.Call) -> int:
    named = {word.arg: word.value for word in call.keywords}
    flag = named.get("flags")
    return int(getattr(re, flag.attr)) if isinstance(flag, ast.Attribute) else 0


def slow(found: Found) -> str:
    for match in found.matches():
        for attack in attacks(found.pattern, found.flags):
            if told := growth(match, attack):
                return f"{attack}: {told}"
    return ""


def made_by(*made: re.Pattern[str]) -> dict[str, Found]:
    return {
        f"built {n}": Found(each.pattern, each.flags, frozenset()) for n, each in enumerate(made)
    }


def escaped(*words: str) -> re.Pattern[str]:
    """Return the pattern of words of a snippet, as `try_search.section_of` joins them."""
    return re.compile(try_search._BETWEEN.pattern.join(words))


BUILT: dict[str, Callable[[], dict[str, Found]]] = {
    "research.documents.try_search": lambda: made_by(escaped("Alpha", "one", "two")),
    "research.engine.offline.questions.question": lambda: made_by(
        *(cue for code in question._WORDS for _, cue in question._question_cues(code))
    ),
    "research.llm.capabilities": lambda: made_by(*map(re.compile, capabilities._NAMES.values())),
}
"""Examples of patterns that functions make of more than an f-string."""
MODULES = [
    *modules(),
    *(
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(evaluation.__path__, f"{evaluation.__name__}.")
    ),
]
CALL_OF_RE = re.compile(rf"\bre\.(?:{'|'.join(sorted(CALLS))}|compile)\(")


def may_have_patterns(module: types.ModuleType) -> bool:
    """Whether `of_module` is worth asking, without parsing: each test process does this first."""
    return bool(module.__file__) and (
        any(True for value in vars(module).values() for _ in patterns(value))
        or CALL_OF_RE.search(Path(str(module.__file__)).read_text()) is not None
    )


READ = [module for module in MODULES if may_have_patterns(module)]


def test_what_functions_put_together_is_tried() -> None:
    unknown = {
        module.__name__
        for module in MODULES
        if module.__file__
        for call in built(ast.parse(Path(module.__file__).read_text()))
        if not isinstance(call.args[0], ast.JoinedStr)
    }
    assert unknown == set(BUILT)
    assert all(module in READ for module in MODULES if of_module(module))
    names = {"NAME": "x+"}
    tree = ast.parse("def f(a):\n    re.search(rf'{NAME}y{a}', a)\n    re.sub('a', 'b', a)")
    [found] = put_together(tree, names).values()
    assert (found.pattern, found.uses) == (r"x+yEdda\ Marlow", {"search"})


@pytest.mark.parametrize("module", READ, ids=lambda module: module.__name__)
def test_every_pattern_is_linear(module: types.ModuleType) -> None:
    told = {
        name: slow(found)
        for name, found in of_module(module).items()
        if (module.__name__, name) not in BOUNDED
    }
    assert {name: what for name, what in told.items() if what} == {}


@pytest.mark.parametrize(
    "pattern",
    [r"\s+$", r"/\*.*?\*/", r"\s*,", r"(a+)+b", r"<!--.*?-->", r"[a-z]\w*_", r"(?:^|\n)\s*-\s+$"],
)
def test_a_slow_pattern_is_found(pattern: str) -> None:
    assert slow(Found(pattern, re.DOTALL, frozenset()))


@pytest.mark.parametrize("pattern", [r"\s+", r"[^,]*,?", r"(?<!\s)\s+$", r"\d{1,3}(?:,\d{3})*"])
def test_a_linear_pattern_is_left_alone(pattern: str) -> None:
    assert not slow(Found(pattern, 0, frozenset()))


# --- what reads text ------------------------------------------------------------------------


def read_page(text: str, content_type: str) -> None:
    with suppress(EmptyPageError):
        extract_text(text.encode(), content_type, "https://a.example/page")


def read_objects(text: str) -> None:
    with suppress(RecursionError, ValueError):
        list(parse_json.parse_objects(text))


READERS: dict[str, Match] = {
    "claims": lambda text: clauses.parts_of.__wrapped__(text),
    "amounts": lambda text: amounts.find_amounts.__wrapped__(text),
    "dates": dates.find_dates,
    "the ids of a draft": lambda text: draft._IDS.sub("", text),
    "figures": lambda text: quantities.parse_figures.__wrapped__(text),
    "names": entities.find_names,
    "objects of an answer": read_objects,
    "a growing answer": lambda text: list(stream_draft._strings_of(text)),
    "phrases": leads.find_phrases,
    "a phrase in its sentence": lambda text: leads.is_thing("pump rotor", f"{text} pump rotor"),
    "sentences": sentences._find_sentences,
    "words": engine_text.split_tokens,
    "a plain page": lambda text: read_page(text, "text/markdown"),
    "an HTML page": lambda text: read_page(f"<p>So it is.</p>{text}", "text/html"),
    "a report": lambda text: render_markdown(text, lambda number, place: None),
    "a snippet": words.strip_html,
    "the heading of a snippet": lambda text: try_search.section_of(text, f"{text[:40]} zq"),
    "an answer of a list": lists.plain_answer,
}


def first_heading(text: str) -> None:
    read_page(f"# {text}\n\nSo it is.", "text/markdown")


def first_line(text: str) -> None:
    read_page(f"{text}\n\nSo it is.", "text/plain")


BOUNDED = {
    ("research.search.providers.words", "_UNSHOWN"): Bound(4_000, words.strip_html),
    ("research.extract.plaintext", "_SENTENCE_END"): Bound(100, first_line),
    ("research.extract.plaintext", "_TITLE_LINK"): Bound(200, first_heading),
}
"""Patterns whose input is short whatever the text holds."""


class Measured:
    """A pattern that counts the characters it is given."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.most = 0

    def search(self, text: str) -> re.Match[str] | None:
        self.most = max(self.most, len(text))
        return self.pattern.search(text)

    def sub(self, new: str, text: str) -> str:
        self.most = max(self.most, len(text))
        return self.pattern.sub(new, text)


@pytest.mark.parametrize("module, name", BOUNDED)
def test_a_pattern_that_may_be_slow_is_given_little_text(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound, home = BOUNDED[module, name], importlib.import_module(module)
    measured = Measured(getattr(home, name))
    monkeypatch.setattr(home, name, measured)
    for unit in UNITS:
        bound.read("Of lamps" + unit * 5_000)
        bound.read(("Of lamps" + unit * 5_000)[: bound.most])
    assert 0 < measured.most <= bound.most
    source = Path(str(home.__file__)).read_text()
    assert len(re.findall(rf"\b{name}\b", source)) == 2, "it is used in one place"


@pytest.mark.parametrize("reader", READERS)
def test_reading_is_linear(reader: str) -> None:
    read = READERS[reader]
    told = {unit: growth(read, Attack("So it is. ", unit, " The end.")) for unit in UNITS}
    assert {unit: what for unit, what in told.items() if what} == {}
