"""Make questions from the reference entries of the manuals in manuals.jsonl.

Read every page of each manual, collect the entries that define an option, a
setting, a function or a term, keep the names that one entry of one page alone
defines (plain words only if they are rare in the manual), and write one
question for each to automatic.jsonl. Draw the entries by a fixed seed, page by
page in turn, so that no page supplies all of them.

Run it as `python make_automatic.py` after installing the packages that
manuals.jsonl names; it needs nothing besides the standard library.
"""

import fnmatch
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).parent
MOST = 100
MOST_OF_GLOSSARY = 50
GLOSSARY = "glossary.html"
# A name that could be a plain word counts only if few pages use the word.
RARE = 3
BLOCKS = {"p", "div", "li", "dt", "dd", "tr", "td", "th", "table", "pre", "ul", "ol", "dl"}
BLOCKS |= {"section", "article", "body", "br", "hr", "blockquote", "caption", "title"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS |= HEADINGS
SIDEBAR = (
    r"(?:BACK TO BASICS|CULTURE|TOOL|VOCABULARY|GOING FURTHER|QUICK LOOK|"
    r"IN PRACTICE|CAUTION|NOTE|ALTERNATIVE|SECURITY|COMMUNITY|DEBIAN POLICY) "
)
# Markup of an entry per manual, and the pattern of its name in the text.
TERMS: dict[str, tuple[set[str], str]] = {
    "bind9": ({"dt"}, r"^([a-z][a-z0-9]*(?:-[a-z0-9]+)+)\W*$"),
    "octave": ({"dt"}, r"^:.*?([A-Za-z]\w{3,}) ?\([^()]*\)(?: ¶)?$"),
    "slurm": ({"dt"}, r"^(?:-\w, )?(--[a-z][\w-]{5,}|[A-Z][a-z]+[A-Z]\w+)\b"),
    "handbook": ({"p"}, rf"^{SIDEBAR}(\S.{{5,70}})$"),
    "exim": ({"td"}, r"^([a-z]+(?:_[a-z0-9]+)+)$"),
    "libvirt": (
        {"dt", "h3"},
        r"^(vir[A-Z]\w+|[a-z]+(?:-[a-z0-9]+)+|[a-z]+[A-Z]\w+)(?: ¶)?$",
    ),
    "gimp": ({"dt"}, r"^([A-Z][A-Za-z-]+(?: [A-Za-z-]+){0,3})$"),
    "zsh": ({"dt"}, r"^([A-Z]+_[A-Z_]+|[A-Z]{5,}|[a-z]+(?:-[a-z]+)+)\b"),
    "ffmpeg": ({"dt"}, r"^(-?[a-z][a-z0-9]*(?:_[a-z0-9]+)+|-?[a-z]{7,})\b"),
    "ntpsec": ({"dt"}, r"^(--[a-z][\w-]{3,}|[a-z][a-z0-9_-]{4,})\b"),
}
DEFAULT = re.compile(
    r"(?:[Tt]he )?[Dd]efault(?: value| size| setting)?(?: is| of|:)"
    r" ?(?:[^\s.;,()]|\.(?=\w)){1,25}(?: (?:[^\s.;,()]|\.(?=\w))+){0,5}"
)
SKIPPED = re.compile(
    r"^(?:Grammar|Blocks|Tags|Syntax|Use|Type|Default|See|Same|Alias|Note|"
    r"Deprecated|Report|Example|Synonym|Warning|Values?|Possible|Available|"
    r"This option (?:is deprecated|must be set))\b"
)


class Reader(HTMLParser):
    """Split a page into blocks of visible text, each with its tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, str]] = []
        self.stack: list[str] = ["body"]
        self.text: list[str] = []
        self.hidden = 0

    def flush(self) -> None:
        """Close the current block."""
        text = " ".join("".join(self.text).split())
        if text:
            self.blocks.append((self.stack[-1], text))
        self.text = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a block, or a part that is not shown."""
        if tag in {"script", "style", "head"}:
            self.hidden += 1
        if tag in BLOCKS:
            self.flush()
            if tag not in {"br", "hr"}:
                self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End a block, or a part that is not shown."""
        if tag in {"script", "style", "head"}:
            self.hidden = max(0, self.hidden - 1)
        if tag in BLOCKS:
            self.flush()
            if tag in self.stack[1:]:
                while self.stack.pop() != tag:
                    pass

    def handle_data(self, data: str) -> None:
        """Add text to the current block."""
        if not self.hidden:
            self.text.append(data)


def read_blocks(path: Path) -> list[tuple[str, str]]:
    """Return the blocks of one page."""
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8", errors="replace"))
    reader.close()
    reader.flush()
    return reader.blocks


def list_pages(manual: dict[str, str]) -> list[Path]:
    """Return the pages of a manual, without those it leaves out."""
    left_out = manual.get("exclude", "")
    return sorted(
        path
        for path in Path(manual["root"]).glob(manual["pages"])
        if not fnmatch.fnmatch(path.name, left_out)
    )


def list_entries(name: str, blocks: list[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that a page defines with the text that follows it."""
    tags, pattern = TERMS[name]
    for place, (tag, text) in enumerate(blocks):
        match = re.search(pattern, text) if tag in tags else None
        if match is None:
            continue
        if name == "exim" and not blocks[place + 1][1].startswith("Use:"):
            continue
        rest: list[str] = []
        for next_tag, next_text in blocks[place + 1 : place + 12]:
            if next_tag in HEADINGS or next_tag == "dt":
                break
            if name == "exim" and rest and next_text.startswith("Use:"):
                break
            if next_tag != "pre":
                rest.append(next_text)
        yield match.group(1), rest


def first_clause(rest: list[str], page_text: str) -> str | None:
    """Return how the first sentence that explains begins, or None.

    The words must stand on the page only once.
    """
    for text in rest:
        if SKIPPED.match(text) or text.isupper() or len(text.split()) < 4:
            continue
        sentence = re.split(r"(?<=[.!?:])\s+(?=[A-Z])", text)[0].rstrip(".:")
        if len(sentence) > 110:
            cut = re.match(r".{40,105}(?=[,;(]| –)", sentence)
            sentence = cut.group(0) if cut else sentence[:100].rsplit(" ", 1)[0]
        sentence = sentence.strip()
        if len(sentence) >= 20 and page_text.count(sentence) == 1:
            return sentence
    return None


def find_default(rest: list[str], page_text: str) -> str | None:
    """Return the words that state the default, if the page has them once."""
    found: list[str] = []
    for text in rest[:6]:
        found += DEFAULT.findall(text)
    if len(found) == 1 and page_text.count(found[0]) == 1:
        return found[0]
    return None


def is_distinct(name: str, term: str, page: str, uses: Counter[str]) -> bool:
    """Tell whether a term is a name rather than a word used all over."""
    if name == "handbook" or page == GLOSSARY:
        return True
    if name == "gimp":
        return " " in term
    if re.search(r"[_0-9-]|[a-z][A-Z]|^[A-Z]{2}", term):
        return True
    return uses[term.lower()] <= RARE


def make_questions(manual: dict[str, str]) -> list[dict[str, str]]:
    """Return the questions over one manual."""
    name, root = manual["set"], Path(manual["root"])
    entries: dict[str, list[tuple[str, str, str | None, str | None]]] = {}
    uses: Counter[str] = Counter()
    for path in list_pages(manual):
        if path.is_symlink():
            continue
        blocks = read_blocks(path)
        page_text = " ".join(text for _, text in blocks)
        page = str(path.relative_to(root))
        uses.update(set(re.findall(r"\w+", page_text.lower())))
        for term, rest in list_entries(name, blocks):
            entry = (
                term,
                page,
                first_clause(rest, page_text),
                find_default(rest, page_text),
            )
            entries.setdefault(term.lower(), []).append(entry)
    by_page: dict[str, list[tuple[str, str, str, str | None]]] = {}
    for found in entries.values():
        term, page, clause, default = found[0]
        if len(found) > 1 or clause is None:
            continue
        if is_distinct(name, term, page, uses):
            by_page.setdefault(page, []).append((term, page, clause, default))
    rng = random.Random(name)
    for listed in by_page.values():
        rng.shuffle(listed)
    drawn = by_page.pop(GLOSSARY, [])[:MOST_OF_GLOSSARY]
    queues = [by_page[page] for page in sorted(by_page)]
    rng.shuffle(queues)
    while len(drawn) < MOST and any(queues):
        drawn += [queue.pop() for queue in queues if queue]
    questions = []
    for number, (term, page, clause, default) in enumerate(drawn[:MOST], 1):
        if name == "handbook":
            kind, question, answer = "heading", term, clause
        elif page == GLOSSARY:
            kind, question, answer = "definition", f"What is {term}?", clause
        elif default is not None:
            kind, answer = "default", default
            question = f"What is the default of {term}?"
        elif number % 2:
            kind, question, answer = "meaning", f"What is {term} for?", clause
        else:
            kind, question, answer = "identifier", term, clause
        questions.append(
            {
                "id": f"{name}-auto-{number:03d}",
                "set": name,
                "kind": kind,
                "question": question,
                "page": page,
                "answer": answer,
            }
        )
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
