"""Next steps and conclusions, which the model infers: whether they keep to what is known, and what
is their own.

A conclusion ranks, orders or judges by findings, as no quote need do. Code looks for what it has of
its own, and a believed verifier judges whether it follows from its quotes for who asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.claim_check import check_claim
from research.engine.evidence.claims.names import identifiers_in, unknown_names
from research.engine.evidence.claims.operands import NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.checking.lacking import (
    foreign_to_formulas,
    lacking_dates,
    lacking_figures,
    stands_in,
    tell_lacking,
)
from research.engine.report.checking.statement_check import calculate_formulas, site_names
from research.engine.report.draft import Draft, Fault, Section, Statement
from research.engine.text.amounts import find_amounts
from research.engine.text.entities import find_names
from research.engine.text.tokens import unique_texts

_NOTHING = re.compile(r"(?<![\w.,])0(?![\w.,%])")
"""A zero: a next step may set a value to 0 that no quote has."""
_STRANGE = frozenset((
    "number differs", "date differs", "negation differs", "direction differs", "pairs mixed up",
))  # fmt: skip
"""Differences from quotes and question that no step may have; names are compared by themselves, and
who does what is for the verifier.
"""
_CODE = re.compile(r"`([^`]+)`")
_STOPS, COLONS = (".", "。"), (":", "：")
_BETWEEN = " ,;."
"""What may stand between commands, and behind the last one."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[a-z][\w-]{0,60}\w"
    r"|(?<!\w)[^\W\d_]\w{0,60}(?:[.-]\w{1,60}){1,6}"
    r"|(?<!\w)[^\W\d_][^\W_]{0,60}_\w{1,120}"
    r"|(?<!\w)\w{1,60}(?=\()"
)
"""An option, a name with a joint, or a function that is called."""
_NEW_NAME = re.compile(r"[^\W\d_][^\W_]{0,60}_\w{1,120}(?!\w|\s*[=(:.])")
"""A name that sets and calls nothing: a command may give it to what it makes."""
_OBJECT = re.compile(
    r"\b(?:table|view|index|sequence|constraint|trigger|into|from|join|update|only|references"
    r"|partition(?: of)?|rename to|on)\s(?:if (?:not )?exists )?$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:where|and|or|when|having|column|by|on \w{1,60}\s?\()\s?$", re.IGNORECASE
)
"""SQL context of the name of a table, index or other object, and of a column name. Such names are
part of the asker's schema, so no page need have them: "CREATE TABLE events_new (", "WHERE
customer_id = 42".
"""
_PROGRAMS = ("bin/",)
"""How the paths of programs go on, whose names have to be known."""
SHORTEST_OPTION = 3
_SHORT_OPTIONS = re.compile(r"-[a-z]{2,4}")
"""Options of a letter, set together."""
_PLACEHOLDER = re.compile(r"[A-Z]+(?:-[A-Z]+)+|[\w.-]*\d{4}-\d{2}-\d{2}")
"""Placeholder of a value that the user fills in: "KEY-OF-THE-SERVER", "files-2026-12-31"."""
_CONTEXT = 80
"""Characters before a name that are searched for its context."""
_COUNT = re.compile(r"\b(?:one|two|three|four|five|six|seven|eight|both)\b", re.IGNORECASE)
MOST_AUTHORED = 3
"""Conclusions that a short section of an author may have."""
NOT_FOLLOWING = (
    "a checker found that it doesn't follow: it has a ground that its quotes don't give, is firmer "
    "than they are, or takes silence for a no"
)


def is_within_evidence(step: Statement, ledger: Ledger) -> bool:
    """Return whether a step names nothing that its quotes and the question don't, and rests on
    something that no page dictates. In code, values, words and names of what a command makes may be
    its own, and other identifiers those of any page that was read.
    """
    return not find_strangeness(step, ledger)


def find_strangeness(step: Statement, ledger: Ledger) -> str:
    """Return what a step has that it may not; "" if it is within the evidence."""
    if fault := find_fault(step, ledger):
        return fault
    names = _own_names(step, _given(step, ledger), ledger)
    told = (find_strange_words(step, ledger), tell_lacking(names, "on no page"))
    return ", ".join(filter(None, told))


def find_strange_words(step: Statement, ledger: Ledger) -> str:
    """Return what a step has, its code left aside, that it may not; "" if there is nothing."""
    if fault := find_fault(step, ledger):
        return fault
    strange = _own_words(step, _given(step, ledger), ledger)
    return tell_lacking(strange, "in none of its quotes and not in the question")


def find_fault(step: Statement, ledger: Ledger) -> str:
    """Return why a step may not stand whatever is said beside it: it rests on nothing, or its
    formula doesn't hold; "" if nothing does.
    """
    records = [ledger.book.records[i] for i in step.evidence if i in ledger.book.records]
    if not step.text or not records or any(record.is_dictated for record in records):
        return "it rests on nothing that may be stated"
    try:
        _given(step, ledger)
    except NotComputedError as error:
        return str(error)
    return ""


def parts_of_its_own(step: Statement, ledger: Ledger) -> list[str]:
    """Return the figures, dates and names that neither a step's quotes nor the question have, then
    the identifiers in its code, these in backticks, as far as they are on no page that was read.
    Raises `NotComputedError`.
    """
    given = _given(step, ledger)
    names = [f"`{name}`" for name in _own_names(step, given, ledger)]
    words = [
        each
        for each in _own_words(step, given, ledger)
        if not any(stands_in(each, page.text) for page in ledger.pages.values())
    ]
    return [*words, *names]


def _own_words(step: Statement, given: str, ledger: Ledger) -> list[str]:
    """Return what the words of a step have, its code left aside, that is not given."""
    said = step.text if ledger.began < Form.COMPUTED else _CODE.sub(" ", step.text)
    said = _NOTHING.sub("", said)
    if said[1:2].islower() and ledger.began >= Form.COMPUTED:
        said = said[0].lower() + said[1:]  # "Plan …" is no name
    strange = _strange_parts(said, step, given, ledger)
    if ledger.began >= Form.COMPUTED:
        strange += sorted(identifiers_in(said) - identifiers_in(given))
    return unique_texts(strange)


def _own_names(step: Statement, given: str, ledger: Ledger) -> list[str]:
    """Return the identifiers in the code of a step that are on no page."""
    found = [name for code in code_of(step, ledger) for name in _unknown(code, given, ledger)]
    return unique_texts(found)


def split_commands(text: str) -> tuple[str, list[str]]:
    """Return the words of a step, with the colon or stop, and the commands that stand behind it."""
    found, said, codes = (text, list[str]()), text.rstrip(_BETWEEN), list[str]()
    while said.endswith("`") and (start := said.rfind("`", 0, -1)) >= 0:
        codes.insert(0, said[start + 1 : -1])
        before = said[:start].rstrip()
        if before.endswith(_STOPS + COLONS):
            found = before, [*codes]
        said = before.rstrip(_BETWEEN)
    return found


def _unknown(code: str, given: str, ledger: Ledger) -> list[str]:
    """Return the identifiers in code that occur neither in a step's sources nor on any page read;
    of one with a prefix, such as "c.oid", the part behind it counts.
    """
    named = _named(code, ledger)
    if not named:
        return []
    told, pages = given.casefold(), [page.text.casefold() for page in ledger.pages.values()]

    def is_known(name: str) -> bool:
        if _SHORT_OPTIONS.fullmatch(name) and ledger.began >= Form.EDITED:  # "-vv", "-xzf"
            return all(any(f"-{letter}" in text for text in (told, *pages)) for letter in name[1:])
        last = name.rpartition(".")[2] if ledger.began >= Form.EDITED else name
        if any(each in text for each in {name, last} for text in (told, *pages)):
            return True
        option = name.lstrip("-")  # a page may head what it says of "-crf" by "crf"
        is_option = name != option and len(option) >= SHORTEST_OPTION
        word = re.compile(rf"(?<![\w-]){re.escape(option)}(?![\w-])")
        is_told = is_option and any(word.search(text) for text in (told, *pages))
        return is_told and ledger.began >= Form.EDITED

    return [name for name in named if not is_known(name.casefold())]


def _strange_parts(said: str, step: Statement, given: str, ledger: Ledger) -> list[str]:
    """Return the figures, dates and names that the words of a step have of their own; whether they
    turn a quote round is for the verifier.
    """
    if ledger.began < Form.COMPUTED:
        reasons = check_claim(said, given, ledger.question, by=ledger.refuses_by).reasons
        own = [name for name in find_names(said) if name.casefold() not in given.casefold()]
        return [*own, *(_STRANGE & {*reasons})]
    if step.formulas:
        figures = foreign_to_formulas(said, step, ledger)
    else:
        figures = lacking_figures(said, given, "")
    if ledger.began >= Form.EDITED:  # "half a minute", "ten of them": how much to do
        figures = [each for each in figures if any(map(str.isdigit, each))]
    names = unknown_names(said, given, ledger.plan.language)
    return [*figures, *lacking_dates(said, given, ""), *names]


def proposed_code(step: Statement, ledger: Ledger) -> list[str]:
    """Return the code in a step that has a value or a word that no text gives."""
    given = _given(step, ledger)
    known = {each.group().casefold() for each in _WORD.finditer(given)}
    values = {each.value for each in find_amounts(given)} | {
        each.base for each in find_amounts(given)
    }
    return [
        code
        for code in code_of(step, ledger)
        if any(each.group().casefold() not in known for each in _WORD.finditer(code))
        or any(each.value not in values for each in find_amounts(_IDENTIFIER.sub(" ", code)))
    ]


def code_of(step: Statement, ledger: Ledger) -> list[str]:
    """Return the inline code spans of a step."""
    return _CODE.findall(step.text) if ledger.began >= Form.COMPUTED else []


def _named(code: str, ledger: Ledger) -> list[str]:
    """Return the identifiers that have to occur on some page: options, settings, functions."""
    code = code.replace("\\n", "  ")  # a line end within a quoted text
    found = [each for each in _IDENTIFIER.finditer(code) if not _NEW_NAME.match(code, each.start())]
    if ledger.began >= Form.EDITED:
        found = [e for e in found if not (_is_of_schema(code, e) or _is_of_path(code, e))]
        found = [each for each in found if not _PLACEHOLDER.fullmatch(each.group())]
    return [each.group() for each in found]


def _is_of_schema(code: str, name: re.Match[str]) -> bool:
    """Return whether an identifier is the name of an object or a column of the asker's database."""
    before = code[max(0, name.start() - _CONTEXT) : name.start()]
    is_called = code[name.end() : name.end() + 1] == "("
    is_plain = "." not in name.group() and not name.group().startswith("-")
    return is_plain and bool(_OBJECT.search(before) or (_COMPARED.search(before) and not is_called))


def _is_of_path(code: str, name: re.Match[str]) -> bool:
    """Return whether an identifier is part of a path on the asker's machine, and no program."""
    before = code[max(0, name.start() - _CONTEXT) : name.start()]
    is_folder = code[name.end() : name.end() + 1] == "/"
    return before.endswith("/") and (is_folder or not before.endswith(_PROGRAMS))


def _given(step: Statement, ledger: Ledger) -> str:
    """Return what a step may draw on: its quotes, their headings, the question, the report that a
    follow-up is about, and what its formulas make. Raises `NotComputedError`.
    """
    records = [ledger.book.records[i] for i in step.evidence if i in ledger.book.records]
    quotes = [source.quote for record in records for source in record.sources]
    sources = [source for record in records for source in record.sources]
    heads = [f"{source.title} {source.section}" for source in sources]
    if ledger.began >= Form.EDITED:
        heads += (f"{s.day} {' '.join(site_names(s, ledger))}" for s in sources)
    made = [each.result for each in calculate_formulas(step, ledger)]
    return " ".join((*quotes, *heads, ledger.question, ledger.told_before, *made))


def with_few_conclusions(draft: Draft) -> Draft:
    """Return a draft in which only the short answer and the first such sentence of each section
    conclude, or in one that its author ordered half of its sentences, at least `MOST_AUTHORED`;
    others are statements like any.
    """

    def first_few(section: Section) -> Section:
        size = len(section.statements)
        most = max(MOST_AUTHORED, -(-size // 2)) if draft.is_authored else 1
        kept = [said for said in section.statements if said.concludes][:most]
        return replace(section, statements=_others_plain(section.statements, kept))

    return replace(draft, sections=tuple(map(first_few, draft.sections)))


def _others_plain(
    statements: Iterable[Statement], kept: Sequence[Statement]
) -> tuple[Statement, ...]:
    return tuple(
        replace(said, concludes=False) if said.concludes and said not in kept else said
        for said in statements
    )


def conclusion_faults(draft: Draft, ledger: Ledger) -> list[Fault]:
    """Return the conclusions with a figure, name or identifier of their own, or on nothing that may
    be stated, by their numbers in the draft.
    """
    return [
        Fault(number, said, strange)
        for number, said in enumerate(draft.statements, 1)
        if said.concludes and (strange := find_strangeness(_without_counts(said), ledger))
    ]


def _without_counts(said: Statement) -> Statement:
    """Return a conclusion without the small numbers in words by which it counts ("all three")."""
    return replace(said, text=_COUNT.sub("some", said.text))
