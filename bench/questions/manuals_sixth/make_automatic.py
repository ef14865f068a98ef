"""Make questions from the directives, options and sections of the manuals in manuals.jsonl.

The blocks of a page, the draw, and the sentence that answers are those of the second set's script;
what an entry is has to be told anew for the tables of these two manuals. Run it as
`python make_automatic.py` after installing the packages that manuals.jsonl names.
"""

import importlib.util
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location(
    "second", HERE.parent / "manuals_new" / "make_automatic.py"
)
assert _SPEC and _SPEC.loader
second = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(second)

MOST = {"since": 50, "default": 50, "rest": 60, "heading": 40}
DIRECTIVE = re.compile(r"^(\w+) Directive ¶$")
OPTION = re.compile(r"^(?:-\w(?: [A-Z]+)?, )?(--[a-z][a-z-]+)(?: [A-Z]+)?$")
HEADING = {
    "apache": re.compile(r"^(?!.* Directive)(\S+ \S.{5,60}) ¶$"),
    "borg": re.compile(r"^(\S+ \S.{5,80})¶$"),
}
SINCE = re.compile(
    r"^(?:Only )?[Aa]vailable (?:in|since)\b.{0,40}?\d+\.\d+(?:\.\d+)?(?: and later)?"
)
DEFAULT = re.compile(r"\([Dd]efault: [^()]{1,40}\)")
SKIPPED = {"Bugfix checklist", "See also", "Common options", "Available Languages"}

Blocks = list[tuple[str, str]]


def directives(blocks: Blocks) -> Iterator[dict[str, str]]:
    """Yield the directives of a module, each with the cells of its table."""
    for place, (_, text) in enumerate(blocks):
        named = DIRECTIVE.match(text)
        if named:
            cells = [shown for _, shown in blocks[place + 1 : place + 17]]
            told: dict[str, str] = {}
            for field, cell in zip(cells[::2], cells[1::2], strict=False):
                told.setdefault(field, cell)
                if field == "Compatibility:":
                    break
            since = SINCE.match(told.get("Compatibility:", ""))
            yield {
                "term": named[1],
                "meaning": told.get("Description:", ""),
                "default": told.get("Default:", ""),
                "since": since[0] if since else "",
            }


def options(blocks: Blocks) -> Iterator[dict[str, str]]:
    """Yield the options of a command, each with the cell that explains it."""
    for (_, text), (_, told) in pairwise(blocks):
        named = OPTION.match(text)
        if named:
            stated = DEFAULT.search(told)
            yield {
                "term": named[1],
                "meaning": told,
                "default": stated[0] if stated else "",
                "since": "",
            }


def headings(name: str, blocks: Blocks, text: str) -> Iterator[dict[str, str]]:
    """Yield the titles of sections with how their first sentence begins."""
    for place, (tag, shown) in enumerate(blocks):
        named = HEADING[name].match(shown) if tag in {"h2", "h3", "h4"} else None
        if named and named[1] not in SKIPPED:
            told = second.first_clause([t for _, t in blocks[place + 1 : place + 3]], text)
            if told:
                yield {"term": named[1], "meaning": told}


def make_questions(manual: dict[str, str]) -> list[dict[str, object]]:
    """Return the questions over one manual."""
    name, root = manual["set"], Path(manual["root"])
    found: list[dict[str, str]] = []
    titles: list[dict[str, str]] = []
    texts: dict[str, str] = {}
    for path in sorted(root.glob(manual["pages"])):
        page = path.relative_to(root).as_posix()
        if page.startswith("_"):
            continue
        blocks = second.read_blocks(path)
        texts[page] = " ".join(text for _, text in blocks)
        named = directives(blocks) if name == "apache" else options(blocks)
        found += [entry | {"page": page} for entry in named]
        titles += [entry | {"page": page} for entry in headings(name, blocks, texts[page])]
    often = Counter(entry["term"].lower() for entry in [*found, *titles])
    rng = random.Random(name)

    def draw(given: list[dict[str, str]], most: int) -> list[dict[str, str]]:
        pages: dict[str, list[dict[str, str]]] = {}
        for entry in given:
            if often[entry["term"].lower()] == 1:
                pages.setdefault(entry["page"], []).append(entry)
        drawn: list[dict[str, str]] = second.draw(pages, most, rng)
        return drawn

    def is_once(entry: dict[str, str], field: str) -> bool:
        told = entry[field]
        return bool(told) and texts[entry["page"]].count(told) == 1

    since = draw([entry for entry in found if entry["since"]], MOST["since"])
    default = draw([entry for entry in found if is_once(entry, "default")], MOST["default"])
    taken = {entry["term"] for entry in since + default}
    rest = [
        entry
        for entry in found
        if entry["term"] not in taken and len(entry["meaning"]) > 20 and is_once(entry, "meaning")
    ]
    asked = [("since", entry) for entry in since] + [("default", entry) for entry in default]
    for number, entry in enumerate(draw(rest, MOST["rest"])):
        asked.append(("identifier" if number % 2 else "meaning", entry))
    asked += [("heading", entry) for entry in draw(titles, MOST["heading"])]
    wordings = {
        "since": "Since which version is there {}?",
        "default": "What is the default of {}?",
        "meaning": "What is {} for?",
    }
    questions: list[dict[str, object]] = []
    for number, (kind, entry) in enumerate(asked, 1):
        answer = entry[kind if kind in {"since", "default"} else "meaning"]
        asked_for: dict[str, object] = {
            "id": f"{name}-auto-{number:03d}",
            "set": name,
            "kind": kind,
            "question": wordings.get(kind, "{}").format(entry["term"]),
            "page": entry["page"],
            "answer": answer,
            "entry": entry["term"],
            "count": second.count_whole(answer, texts[entry["page"]]),
        }
        also = [page for page in texts if page != entry["page"] and answer in texts[page]]
        if also and kind not in {"since", "default"}:
            asked_for["also"] = also
        questions.append(asked_for)
    return questions


def main() -> None:
    """Regenerate automatic.jsonl."""
    lines = (HERE / "manuals.jsonl").read_text(encoding="utf-8").splitlines()
    with (HERE / "automatic.jsonl").open("w", encoding="utf-8") as out:
        for line in lines:
            for question in make_questions(json.loads(line)):
                out.write(json.dumps(question, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
