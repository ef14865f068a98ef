"""Names that documents give to themselves and to what they define, looked up exactly.

An entry is a title, a heading or a defined term of a document: "A League of Their Own",
"Vacuuming Basics", "autovacuum_max_workers". Its key keeps function words and the signs of
identifiers, so that a question that names it whole finds it whole, which stemmed words with
weights by rarity cannot do. Keys are plain strings in one indexed column, the same in
SQLite and PostgreSQL.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from research.fulltext.passages import Term
from research.fulltext.query_terms import is_name, is_stop_word, written_words

Kind = Literal["title", "heading", "term", "part"]

HALF_TOLD = 20
"""Words of an explanation that say half of what a long one does."""
MAX_KEY_WORDS = 8
MAX_QUERY_WORDS = 40

# "25.1.5. ", "Chapter 3. ", "A.2. ", "K. "
_NUMBER = re.compile(
    r"(?:(?:Chapter|Appendix|Section|Part)\s)?(?:[A-Z]\.(?:\d{1,3}\.?)*|\d{1,3}(?:\.\d{1,3})*\.?)\s+"
)
# " — ", " - ", " | ", ": "
_SEGMENT_END = re.compile(r"\s[\u2014\u2013|\-\u00b7]\s|:\s")
# Where the name of a term ends: "cancel(msg=None)", "tls-port <integer>", "color=WHEN"
_ARGUMENTS = re.compile(r"[(\[{<=]")
# "asecd" in ": y = asecd (x)"
_CALLED = re.compile(r"(?<![^\s()\[\]{},=])([^\s()\[\]{},=]+) ?\(")
# "-a, --all", "mkfs or mke2fs"
_ALTERNATIVE = re.compile(r",\s|\sor\s")
# "Task" in "asyncio.Task"
_LAST_PART = re.compile(r"[.:/]([^.:/]+)$")


@dataclass(frozen=True)
class Entry:
    """A key of a document, what it is called so for, and how many words explain it there.

    Only of terms is it known how far their explanation reaches.
    """

    key: str
    kind: Kind
    words: int = 0


@dataclass(frozen=True)
class Asked:
    """A run of words of a query, `words[start:end]`, that may be the key of an entry.

    `whole` is False for the end of a dotted name, such as `cancel` of `asyncio.Task.cancel`.
    `share` is the run's part of the query's content words, or of all its words if the run has none.
    """

    key: str
    start: int
    end: int
    share: float
    whole: bool = True

    @property
    def is_identifier(self) -> bool:
        return self.end - self.start == 1 and is_name(self.key)


def entries(
    title: str, stem: str, headings: Sequence[str], terms: Sequence[Term]
) -> tuple[Entry, ...]:
    """Return the entries of a document, each key once, with its first kind and of that the
    longest explanation.

    `stem` is the file's name without its ending.
    """
    found: dict[str, Entry] = {}
    given: Iterable[tuple[Iterable[str], Kind, int]] = (
        ([*_called(title), stem], "title", 0),
        (chain.from_iterable(map(_called, headings)), "heading", 0),
        *((_defined(term.line), "term", term.words) for term in terms),
        *((_last_parts(term.line), "part", term.words) for term in terms),
    )
    for texts, kind, words in given:
        for key in filter(None, map(_key, map(written_words, texts))):
            known = found.setdefault(key, Entry(key, kind, words))
            if known.kind == kind and known.words < words:
                found[key] = Entry(key, kind, words)
    return tuple(found.values())


def asked_keys(query: str) -> list[Asked]:
    """Return every run of at most `MAX_KEY_WORDS` words of a query, longest first."""
    words = written_words(query)[:MAX_QUERY_WORDS]
    content = [at for at, word in enumerate(words) if not is_stop_word(word)]

    def share(start: int, end: int) -> float:
        held = sum(start <= at < end for at in content)
        return held / len(content) if held else (end - start) / len(words)

    runs = [
        Asked(" ".join(words[start:end]), start, end, share(start, end))
        for size in range(min(MAX_KEY_WORDS, len(words)), 0, -1)
        for start, end in zip(range(len(words)), range(size, len(words) + 1), strict=False)
        if size > 2 or not content or not all(map(is_stop_word, words[start:end]))
    ]
    parts = [
        Asked(part, at, at + 1, share(at, at + 1), whole=False)
        for at, word in enumerate(words)
        for part in _ends(word)
    ]
    return runs + parts


def matched_keys(asked: Sequence[Asked], known: Collection[str]) -> list[Asked]:
    """Return those of the keys that some document has, without those inside of a longer one."""
    taken: list[Asked] = []
    for each in asked:
        inside = any(other.start <= each.start and each.end <= other.end for other in taken)
        if each.key in known and not inside:
            taken.append(each)
    return taken


def entry_scores(
    asked: Sequence[Asked],
    found: Mapping[str, Mapping[int, Entry]],
    weights: Mapping[Kind, float],
    identifier_weight: float,
) -> dict[int, float]:
    """Return what the matched keys add to each document; a key of many documents adds little.

    `found` has the documents of each key, with their entry. An identifier counts
    wherever a query has it, and so does a name that is all that a query says; words count the
    more, the more of the query they are: a page called "Tables" is not what every question about
    tables is about. Pages that mention a name among their terms take nothing from the page that
    is called so. Of several that explain a term, those that say less of it than another count less.
    """
    scores: dict[int, float] = defaultdict(float)
    for each in matched_keys(asked, found.keys()):
        documents = found[each.key]
        is_all = each.is_identifier or each.share == 1.0
        worth = identifier_weight if is_all else each.share**2
        worth *= 1.0 if each.whole else weights["part"]
        titled = sum(entry.kind == "title" for entry in documents.values())
        fullest = max(entry.words for entry in documents.values())
        for document_id, entry in documents.items():
            rivals = titled if entry.kind == "title" else len(documents)
            told = _told(entry.words) / _told(fullest) if entry.words else 1.0
            scores[document_id] += worth * told * _weight(entry.kind, weights) / rivals**0.5
    return scores


def _told(words: int) -> float:
    """Return how much an explanation says, in which the first words count most."""
    return words / (words + HALF_TOLD)


def _weight(kind: Kind, weights: Mapping[Kind, float]) -> float:
    """`part` is a share of what a term weighs."""
    return weights["term"] * weights["part"] if kind == "part" else weights[kind]


def _called(title: str) -> Iterator[str]:
    """Yield a title or heading as written, without its number, its remark, its later segments."""
    yield title
    number = _NUMBER.match(title)
    plain = title[number.end() :] if number else title
    yield plain
    without = plain.partition(" (")[0] if plain.endswith(")") else plain
    yield without
    yield _SEGMENT_END.split(without, maxsplit=1)[0]


def _defined(line: str) -> Iterator[str]:
    """Yield the names that a line introduces: all of it, what it calls, and each alternative."""
    plain = line.strip(" :")
    yield plain
    called = _CALLED.search(plain)
    if called:
        yield called[1]
    for alternative in _ALTERNATIVE.split(plain):
        head = _ARGUMENTS.split(alternative, maxsplit=1)[0].split()
        yield from head[:1] if len(head) == 1 else filter(is_name, head)


def _last_parts(line: str) -> Iterator[str]:
    """Return the last part of each dotted name that a line introduces."""
    return chain.from_iterable(map(_ends, _defined(line)))


def _ends(name: str) -> Iterator[str]:
    last = _LAST_PART.search(name)
    if last:
        yield last[1]


def _key(words: Sequence[str]) -> str:
    return " ".join(words) if len(words) <= MAX_KEY_WORDS else ""
