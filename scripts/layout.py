"""Measure how the product's modules are laid out: `python -m scripts.layout [--list]`.

Counts, in `research` and `dashboard` without migrations: lines, modules (without `__init__.py`),
modules under 40 and above 400 lines, modules that exactly one other module imports, and packages of
more than 14 modules. `--list` names each of them. `tests/test_layout.py` holds the figures.

A seam is small, or imported in one place, on purpose: a search provider, an export format, a
management command, a model of the database. `--list` marks them with an asterisk.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("research", "dashboard")
SMALL, LARGE = 40, 400
ROOM = 14
SEAMS = (
    "research/search/providers/",
    "dashboard/exports/",
    "research/management/",
    "dashboard/management/",
    "research/models/",
    "research/admin/",
)


@dataclass(frozen=True)
class Layout:
    """The modules below ROOT: lines and importers by path."""

    lines: dict[str, int]
    importers: dict[str, set[str]] = field(repr=False)

    @cached_property
    def modules(self) -> list[str]:
        return sorted(path for path in self.lines if not path.endswith("__init__.py"))

    @cached_property
    def small(self) -> list[str]:
        return [path for path in self.modules if self.lines[path] < SMALL]

    @cached_property
    def large(self) -> list[str]:
        return [path for path in self.modules if self.lines[path] > LARGE]

    @cached_property
    def imported_once(self) -> list[str]:
        return [path for path in self.modules if len(self.importers[path]) == 1]

    @cached_property
    def crowded(self) -> list[str]:
        counts = Counter(path.rpartition("/")[0] for path in self.modules)
        return sorted(package for package, count in counts.items() if count > ROOM)


def measure() -> Layout:
    """Read every module of the product's packages."""
    paths = [
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    ]
    names = {path[:-3].replace("/", ".").removesuffix(".__init__"): path for path in paths}
    importers: dict[str, set[str]] = defaultdict(set)
    lines = {}
    for path in paths:
        text = (ROOT / path).read_text()
        lines[path] = text.count("\n")
        for name in imported_names(ast.parse(text)):
            if (found := names.get(name) or names.get(name.rpartition(".")[0])) and found != path:
                importers[found].add(path)
    return Layout(lines, importers)


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names that a module imports, those of members included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    arguments.add_argument("--list", action="store_true", help="name the modules")
    is_listed = arguments.parse_args().list
    layout = measure()
    print(f"{sum(layout.lines.values())} lines in {len(layout.modules)} modules")
    for title, paths in (
        (f"modules under {SMALL} lines", layout.small),
        (f"modules above {LARGE} lines", layout.large),
        ("modules with one importer", layout.imported_once),
        (f"packages of more than {ROOM} modules", layout.crowded),
    ):
        seams = sum(path.startswith(SEAMS) for path in paths)
        print(f"{title}: {len(paths)}" + (f", {seams} of them seams" if seams else ""))
        for path in paths if is_listed else ():
            sole = sorted(layout.importers.get(path, ()))
            note = f"  <- {sole[0]}" if len(sole) == 1 else ""
            count = layout.lines.get(path, "")
            print(f"  {'*' if path.startswith(SEAMS) else ' '} {path} {count}{note}")


if __name__ == "__main__":
    main()
