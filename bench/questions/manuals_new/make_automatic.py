"""Make questions from the reference entries of the manuals in manuals.jsonl.

Read every page of each manual, collect the entries that define an option, a
setting, a function, a term or a section, and write questions to
automatic.jsonl. An answer is the beginning of the explanation, the words that
state the default, or the words that state the version which brought it. Draw
the entries by a fixed seed, page by page in turn, so that no page supplies all
of them.

Run it as `python make_automatic.py` after installing the packages that
manuals.jsonl names; it needs nothing besides the standard library.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MOST_OF_KIND = {"since": 40, "default": 30, "definition": 50, "heading": 40}
MOST_OF_REST = 50
# A name that could be a plain word counts only if few pages use the word.
RARE = 3
BLOCKS = {"p", "div", "li", "dt", "dd", "tr", "td", "th", "table", "pre", "ul", "ol", "dl"}
BLOCKS |= {"section", "article", "body", "br", "hr", "blockquote", "caption", "title"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
BLOCKS |= HEADINGS
# Markup of an entry per manual, and the pattern of its name in the text; "key"
# is the text of the first cell of a table's row.
TERMS: dict[str, list[tuple[set[str], str]]] = {
    "postfix": [
        ({"dt"}, r"^([a-z0-9]+(?:_[a-z0-9]+)+)(?: \((?:default|Default): .*\))?$"),
        ({"dt"}, r"^([a-z]+(?:_[a-z]+)+ [a-z<][\w:<>-]+)$"),
    ],
    "postgis": [({"p"}, r"^(~?[A-Za-z]\w{3,}) — ")],
    "cmake": [
        ({"h1"}, r"^([A-Za-z]\w*(?:[_<>]\w*)+|[A-Z][a-z]+[A-Z]\w+|[a-z]{5,})¶$"),
        ({"dt"}, r"^(--?[a-z][a-z-]{3,}|[A-Z]+_[A-Z_]+|[A-Za-z]+[a-z][A-Z]\w+)\b"),
    ],
    "kicad": [({"key"}, r"^([A-Z0-9][^.:;…]{5,45})\W*$")],
    "hugin": [
        ({"li", "dt", "pre", "p"}, r"^(--[a-z][\w-]{3,})(?:[ =|,:]|$)"),
    ],
    "rsyslog": [
        ({"h2", "h3", "h4"}, r"^([A-Za-z][\w.]{3,}(?:[A-Z]\w*)?)¶$"),
        ({"dt"}, r"^([a-z]+(?:[A-Z_.]\w*)+|\$[A-Z]\w+)\b"),
    ],
    "povray": [
        ({"dt"}, r"^([A-Za-z]\w{3,})(?:\(.*\)| = .*|)\.?;?$"),
        ({"key"}, r"^([A-Z][A-Za-z]+(?:_[A-Za-z]+)+)\s?=.{0,20}$"),
    ],
}
# Titles of sections that are asked alone.
TITLES = {
    "kicad": ({"h3", "h4", "h5"}, r"^(?:[\d.]+\s)?([A-Za-z].{7,60})$"),
    "hugin": ({"h2", "h3", "h4"}, r"^(\S.{7,60})$"),
    "postfix": ({"h2", "h3"}, r"^(\S.{14,70})$"),
    "povray": ({"h3", "h4", "h5", "h6"}, r"^[\d.]+ (\S.{5,60})$"),
    "rsyslog": ({"h1", "h2"}, r"^(\S+ \S.{8,60})¶$"),
    "cmake": ({"h2", "h3"}, r"^(\S+ \S.{8,60})¶$"),
    "postgis": ({"h2"}, r"^\d[\d.]+\s(\S.{7,60})$"),
}
DEFAULT = re.compile(
    r"(?:[Tt]he )?[Dd]efault(?: value| size| setting)?(?: is| of|:)"
    r" ?(?:[^\s.;,()]|\.(?=\w)){1,25}(?: (?:[^\s.;,()]|\.(?=\w))+){0,5}"
)
VERSION = r"v?\d+(?:\.\d+)+\+?"
SINCE = re.compile(
    rf"^(?:New in version {VERSION}|Availability: {VERSION}|"
    rf"This feature is available in Postfix(?: version)? {VERSION}(?:\s?[-–] ?{VERSION})?"
    rf"(?: and later| or later)?|Available [Ss]ince:? {VERSION}|"
    rf"available since:? {VERSION})"
)
SKIPPED = re.compile(
    r"^(?:Grammar|Blocks|Tags|Syntax|Use|Type|Default|See|Same|Alias|Note|"
    r"Deprecated|Report|Example|Synonym|Warning|Values?|Possible|Available|"
    r"New in|Availability|Enhanced|Changed|This feature is available|From Pano|"
    r"Parameters|The following information applies|Status:|Specify (?:zero|a non)|"
    r"Hint|Time units)\b"
)
# Words a table gives for a default that say too little to look for.
VAGUE = {"none", "off", "no", "on", "yes", "empty", "word", "default", "optional"}


class Entry(NamedTuple):
    """One entry of a page: its name and what the page says of it."""

    term: str
    page: str
    title: str
    clause: str | None
    default: str | None
    since: str | None


class Reader(HTMLParser):
    """Split a page into blocks of visible text, each with its tag."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, str]] = []
        self.stack: list[str] = ["body"]
        self.text: list[str] = []
        self.hidden = 0
        self.cell = 0

    def flush(self) -> None:
        """Close the current block."""
        text = " ".join("".join(self.text).split())
        if text:
            tag = self.stack[-1]
            if self.cell == 1 and tag in {"td", "p", "th"} and "tr" in self.stack:
                tag = "key"
            self.blocks.append((tag, text))
        self.text = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a block, or a part that is not shown."""
        if tag in {"script", "style", "head"}:
            self.hidden += 1
        if tag in BLOCKS:
            self.flush()
            if tag == "tr":
                self.cell = 0
            if tag in {"td", "th"}:
                self.cell += 1
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
    """Return the blocks of one page, read in the character set it names."""
    data = path.read_bytes()
    latin = re.search(rb"charset=[\"']?iso-8859-1", data[:2000], re.IGNORECASE)
    reader = Reader()
    reader.feed(data.decode("latin-1" if latin else "utf-8", errors="replace"))
    reader.close()
    reader.flush()
    return reader.blocks


def list_pages(manual: dict[str, str]) -> list[Path]:
    """Return the pages of a manual without symbolic links."""
    found = sorted(Path(manual["root"]).glob(manual["pages"]))
    return [path for path in found if not path.is_symlink()]


def match_name(rules: list[tuple[set[str], str]], tag: str, text: str) -> str | None:
    """Return the name that a block defines, or None."""
    for tags, pattern in rules:
        match = re.search(pattern, text) if tag in tags else None
        if match:
            return match.group(1)
    return None


def list_entries(
    rules: list[tuple[set[str], str]], blocks: list[tuple[str, str]]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that a page defines with the text that follows it."""
    for place, (tag, text) in enumerate(blocks):
        term = match_name(rules, tag, text)
        if term is None:
            continue
        rest: list[str] = []
        # A parameter's table of type and default follows its heading.
        table = [text for _, text in blocks[place + 1 : place + 3]] == ["type", "default"]
        if "¶" in text and tag in {"h2", "h3", "h4"} and rules == TERMS["rsyslog"] and not table:
            continue
        if tag in {"li", "p"}:
            # The explanation follows the name in the same block.
            body = text[len(term) :].lstrip(" :|-—")
            rest.append(re.sub(r"^=?[A-Za-z|.,]* (?=[A-Z])", "", body))
        for next_tag, next_text in blocks[place + 1 : place + 40]:
            inside = {"Synopsis", "Description"} & {next_text} or (table and next_tag == "key")
            if next_tag in HEADINGS | {"dt", "key"} and not inside:
                break
            if tag == "li" and next_tag == "li":
                break
            if next_tag != "pre" and next_tag not in HEADINGS:
                rest.append(next_text)
        yield term, rest


def first_clause(rest: list[str], page_text: str) -> str | None:
    """Return how the first sentence that explains begins, or None.

    The words must stand on the page only once.
    """
    for text in rest[:16]:
        if SKIPPED.match(text) or text.isupper() or len(text.split()) < 4:
            continue
        if (
            text.endswith(";")
            or re.search(r"[{}]|\w\(", text[:60])
            or not re.match(r"[\"'(A-Z`<a-z]", text)
        ):
            continue
        sentence = re.split(r"(?<=[.!?:])\s+(?=[A-Z])", text)[0].rstrip(".:")
        if len(sentence) > 110:
            cut = re.match(r".{40,105}(?=[,;(]| –)", sentence)
            sentence = cut.group(0) if cut else sentence[:100].rsplit(" ", 1)[0]
        sentence = sentence.strip()
        if len(sentence) >= 20 and page_text.count(sentence) == 1:
            return sentence
    return None


def find_default(name: str, term: str, rest: list[str], page_text: str) -> str | None:
    """Return the words that state the default, if the page has them once."""
    if name == "postfix":
        stated = re.search(rf"(?<!\S){re.escape(term)} \(default: [^()]*\)", page_text)
        if stated and len(stated.group(0)) < len(term) + 60:
            return stated.group(0)
        return None
    if name == "postgis":
        call = next((text for text in rest[:8] if f"{term}(" in text), "")
        stated = re.search(r"\w+ ?= ?[\w'.-]+(?=[,)])", call)
        return stated.group(0) if stated else None
    if name == "rsyslog" and "default" in rest[:3] and "mandatory" in rest[:4]:
        # A table of one row: five names, then five values at most.
        width = 1 + max(
            rest.index(word)
            for word in ("type", "default", "mandatory", "obsolete legacy directive", "max")
            if word in rest[:6]
        )
        value = rest[width + rest.index("default")] if len(rest) > 2 * width else ""
        alone = re.findall(rf"(?<!\S){re.escape(value)}(?!\S)", page_text)
        if len(value) > 2 and value.lower() not in VAGUE and len(alone) == 1:
            return value
        return None
    found: list[str] = []
    for text in rest[:6]:
        found += DEFAULT.findall(text)
    if len(found) != 1 or page_text.count(found[0]) != 1:
        return None
    # Words such as "the default of the other option" state no value.
    if re.search(r"default of|:$| not ", found[0]):
        return None
    return found[0]


def find_since(rest: list[str]) -> str | None:
    """Return the words that state which version brought an entry, if one does."""
    found = [match.group(0) for text in rest if (match := SINCE.match(text))]
    return found[0] if len(found) == 1 else None


def is_distinct(name: str, term: str, uses: Counter[str]) -> bool:
    """Tell whether a term is a name rather than a word used all over."""
    if re.search(r"[_0-9<-]|[a-z][A-Z]|^[A-Z]{2}", term) or " " in term:
        return True
    return name == "rsyslog" or uses[term.lower()] <= RARE


def read_title(name: str, page: str, blocks: list[tuple[str, str]]) -> str:
    """Return a short name for a page: its file's name or its title."""
    if name in {"rsyslog", "cmake"}:
        return Path(page).stem
    return next((text for tag, text in blocks if tag == "h1"), Path(page).stem)


def draw(by_page: dict[str, list[Entry]], most: int, rng: random.Random) -> list[Entry]:
    """Draw from the pages in turn."""
    queues = [list(by_page[page]) for page in sorted(by_page)]
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)
    drawn: list[Entry] = []
    while len(drawn) < most and any(queues):
        drawn += [queue.pop() for queue in queues if queue]
    return drawn[:most]


def count_whole(words: str, text: str) -> int:
    """Count where words stand in a text, not as the beginning of a longer number."""
    return len(re.findall(rf"{re.escape(words)}(?!\.?\d)", text))


def group(entries: list[Entry]) -> dict[str, list[Entry]]:
    """Sort entries into their pages."""
    by_page: dict[str, list[Entry]] = {}
    for entry in entries:
        by_page.setdefault(entry.page, []).append(entry)
    return by_page


def make_questions(manual: dict[str, str]) -> list[dict[str, object]]:
    """Return the questions over one manual."""
    name, root = manual["set"], Path(manual["root"])
    entries: list[Entry] = []
    titles: list[Entry] = []
    definitions: list[Entry] = []
    texts: dict[str, str] = {}
    uses: Counter[str] = Counter()
    for path in list_pages(manual):
        blocks = read_blocks(path)
        text = " ".join(text for _, text in blocks)
        page = str(path.relative_to(root))
        texts[page] = text
        title = read_title(name, page, blocks)
        uses.update(set(re.findall(r"\w+", text.lower())))
        for term, rest in list_entries(TERMS[name], blocks):
            entries.append(
                Entry(
                    term,
                    page,
                    title,
                    first_clause(rest, text),
                    find_default(name, term, rest, text),
                    find_since(rest),
                )
            )
        for term, rest in list_entries([TITLES[name]], blocks):
            titles.append(Entry(term, page, title, first_clause(rest, text), None, None))
        if name == "hugin" and not title.startswith("Hugin") and len(title.split()) < 4:
            rest = [text for tag, text in blocks[1:6] if tag in {"p", "dd"}]
            clause = first_clause(rest, text)
            definitions.append(Entry(title, page, title, clause, None, None))
    rng = random.Random(name)
    often = Counter(entry.term.lower() for entry in entries)
    here = Counter((entry.term.lower(), entry.page) for entry in entries)
    often_title = Counter(entry.term.lower() for entry in titles)
    # A name that several pages define is asked for together with its page.
    usable = [
        entry
        for entry in entries
        if here[entry.term.lower(), entry.page] == 1
        and (often[entry.term.lower()] == 1 or name in {"rsyslog", "cmake"})
        and is_distinct(name, entry.term, uses)
    ]
    since = draw(group([e for e in usable if e.since]), MOST_OF_KIND["since"], rng)
    default = draw(group([e for e in usable if e.default]), MOST_OF_KIND["default"], rng)
    taken = {(entry.term, entry.page) for entry in since + default}
    rest_of = [e for e in usable if e.clause and (e.term, e.page) not in taken]
    heads = [
        entry
        for entry in titles
        if entry.clause and often_title[entry.term.lower()] == 1 and often[entry.term.lower()] == 0
    ]
    asked = [("since", entry) for entry in since] + [("default", entry) for entry in default]
    for number, entry in enumerate(draw(group(rest_of), MOST_OF_REST, rng)):
        asked.append(("identifier" if number % 2 else "meaning", entry))
    # Some pages stand in the manual under several names.
    terms = list({e.clause: e for e in definitions if e.clause}.values())
    asked += [("definition", e) for e in draw(group(terms), MOST_OF_KIND["definition"], rng)]
    asked += [("heading", e) for e in draw(group(heads), MOST_OF_KIND["heading"], rng)]
    questions: list[dict[str, object]] = []
    for number, (kind, entry) in enumerate(asked, 1):
        shown = entry.term
        if name == "postgis" and kind == "default":
            shown = f"{str(entry.default).split('=')[0].strip()} in {entry.term}"
        if kind != "heading" and often[shown.lower()] > 1:
            alone = kind == "identifier"
            shown = f"{entry.title} {shown}" if alone else f"{shown} of {entry.title}"
        answer = {"since": entry.since, "default": entry.default}.get(kind, entry.clause)
        question = {
            "since": f"Since which version is there {shown}?",
            "default": f"What is the default of {shown}?",
            "meaning": f"What is {shown} for?",
            "definition": f"What is {shown}?",
        }.get(kind, shown)
        others = [page for page in texts if page != entry.page and str(answer) in texts[page]]
        asked_for: dict[str, object] = {
            "id": f"{name}-auto-{number:03d}",
            "set": name,
            "kind": kind,
            "question": question,
            "page": entry.page,
            "answer": answer,
            "entry": entry.term,
            "count": count_whole(str(answer), texts[entry.page]),
        }
        if others and kind not in {"since", "default"}:
            asked_for["also"] = others
        short = str(answer).replace("(default: ", "(")
        if short != answer and any(short in text for text in texts.values()):
            # A manual page states the same default in fewer words.
            asked_for["alternatives"] = [short]
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
