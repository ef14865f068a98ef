"""Escape text of pages and people for Markdown.

Otherwise `__init__` would be a bold "init", and a page could put links, pictures and headings of
its own into a report. Only what Markdown, or
a program that finds addresses in it, would take for a mark gets a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from research.engine.text.tokens import STOP_WORDS

PLACE_START, PLACE_END = "\ue000", "\ue001"
"""Private characters around a marker that is not placed yet; no text of a page keeps them."""
_PRIVATE = str.maketrans("", "", PLACE_START + PLACE_END)
_MARKS = (
    r"\\(?=[!-/:-@\[-`{-~])"
    r"|\[(?=\d+\])|(?<=\d)\](?!\()|\](?=[(\[])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.|(?<=\bWWW)\.|(?<=\bmailto):|(?<=\bxmpp):"
)
_MARK = re.compile(_MARKS + r"|[`~]|\*(?!\s)|(?<!\s)\*")
_FOREIGN_MARK = re.compile(_MARKS)
_BLOCK = re.compile(r"(?:#{1,6}|[-+>]|={3,})(?=\s|$)|\d{1,9}(?=[.)]\s)")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,254}")
"""A mailbox, which some programs turn into a link regardless of the preceding characters."""
_CODE = re.compile(r"(`[^`]+`)")
_IDENTIFIER = re.compile(
    r"(?<![\w.@\\-])(?<!(?<!\(\))/)(?=[\w.]{1,80}[^\W_]_[^\W_])[^\W\d_]\w{0,60}(?:\.\w{1,60}){0,3}"
    r"(?:\(\)(?![\w@-])|(?!\(\)|[\w/@-]))"
)
"""`pg_stat_activity`, `pg_class.oid`, `pg_stat_reset()`: words joined by underscores. Of a path
none is code, of functions with a slash between them each.
"""
_CODED = re.compile(
    # "--jobs=4": an option
    r"(?<![\w\\-])--[a-z][\w-]{1,40}(?::\w{1,40}){0,3}(?:=[\w./%-]{0,40}\w)?"
    # "age(backend_xid)": a function of a column
    r"|(?<![\w./@\\-])[a-z]\w{0,40}\((?:[a-z]\w{0,40}\.)?[a-z]\w{0,30}_\w{1,40}\)"
    # "work_mem=64MB": a setting with its value
    rf"|{_IDENTIFIER.pattern}(?:=(?:'[^'`\s]{{0,40}}'|-?\w{{1,20}}(?:\.\w{{1,20}}){{0,3}}%?))?"
)
"""Text that is set as code: options, settings with values, identifiers. It has no spaces, since
code can't tell where a command of several words ends.
"""
_CODE_WORD = re.compile(r"`([^\W\d_][\w.-]{0,60}\w)`")
_SPAN_OPTION = re.compile(r"(?<=[ `])-{1,2}[A-Za-z][\w:-]{0,60}=?")
_PAGE_OPTION = re.compile(r"(?<![^\s(\[\"'“])-[A-Za-z](?![\w-])")
"""An option within code: "-geotag", "-all=", and one of a letter on a page: "-z"."""
_VALUE = re.compile(r" (?:[b-zB-HJ-Z]|\d{1,6}(?:\.\d{1,4})?)(?=[\s,;:)]|\.(?!\w)|$)")
_KEPT = re.compile(r"(`[^`]+`|“[^“”]{0,400}”|„[^„“”]{0,400}[“”]|«[^«»]{0,400}»|「[^「」]{0,400}」)")
"""Code, and quotations within a sentence."""


def escape_markdown(text: str) -> str:
    """Return a text of a page or a person, in one line."""
    return _escape_opening(_MARK.sub(r"\\\g<0>", text.translate(_PRIVATE)))


def unlinked(text: str) -> str:
    """Return a text of a page in one line, in which no program finds a link."""
    parts = _MAIL.split(text)
    mails = _MAIL.findall(text)
    shown = escape_markdown(parts[0])
    for mail, part in zip(mails, parts[1:], strict=True):
        shown += f"`{mail}`" + _MARK.sub(r"\\\g<0>", part)
    return shown


def escape_sentence(text: str, has_options: bool = False) -> str:
    """Return a sentence of a model: its code and emphasis stay, and identifiers become code, if it
    `has_options` options and settings with values as well; links, pictures and tags are shown.
    """
    parts = _CODE.split(text.translate(_PRIVATE))
    if has_options:
        parts[::2] = [_with_code(part, _FOREIGN_MARK) for part in parts[::2]]
    else:
        plain = (_FOREIGN_MARK.sub(r"\\\g<0>", part) for part in parts[::2])
        parts[::2] = [_IDENTIFIER.sub(r"`\g<0>`", part) for part in plain]
    return _escape_opening("".join(parts))


def code_words(texts: Iterable[str], plain: str) -> frozenset[str]:
    """Return the words that stand alone as code in some texts, the options within their code, and
    those of one letter in `plain` text. A word that may be an ordinary one counts unless `plain`
    text has it as such.
    """
    told = [*texts]
    found = {each[1] for text in told for each in _CODE_WORD.finditer(text)}
    found = {word for word in found if not _is_ordinary(word, plain)}
    spans = (span for text in told for span in _CODE.findall(text))
    options = {option for span in spans for option in _SPAN_OPTION.findall(span)}
    return frozenset(found | options | {*_PAGE_OPTION.findall(plain)})


def _is_ordinary(word: str, plain: str) -> bool:
    if not word.isalpha() or not word[1:].islower():
        return False
    return word.lower() in STOP_WORDS or bool(_whole(word).search(plain))


def _whole(*words: str) -> re.Pattern[str]:
    told = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<![\w./@\\-])(?:{told})(?![\w(/@=-]|[.:]\w)")


def with_code_words(sentence: str, words: Set[str]) -> str:
    """Return a sentence with these words as code, outside of quotations, an option with its value
    where that is a letter or a number: "-m m", "--abr 56".
    """
    if not words:
        return sentence
    parts = _KEPT.split(sentence)
    parts[::2] = [_with_value(words).sub(_coded, part) for part in parts[::2]]
    return "".join(parts)


def _with_value(words: Set[str]) -> re.Pattern[str]:
    return re.compile(rf"({_whole(*words).pattern})({_VALUE.pattern})?")


def _coded(found: re.Match[str]) -> str:
    word, value = found[1], found[2] or ""
    return f"`{word}{value}`" if word.startswith("-") else f"`{word}`{value}"


def escape_with_code(text: str, words: Set[str] = frozenset()) -> str:
    """Return a text of a page or a person, in one line, with options, settings with
    values, identifiers and these words as code.
    """
    if "`" in text:
        return escape_markdown(text)
    shown, end, plain = list[str](), 0, text.translate(_PRIVATE)
    for word in _with_value(words).finditer(plain) if words else ():
        shown += (_with_code(plain[end : word.start()], _MARK), _coded(word))
        end = word.end()
    return _escape_opening("".join((*shown, _with_code(plain[end:], _MARK))))


def _with_code(text: str, mark: re.Pattern[str]) -> str:
    """Return a text with its code as code, and a backslash before each mark elsewhere."""
    parts, end = list[str](), 0
    for code in _CODED.finditer(text):
        parts += (mark.sub(r"\\\g<0>", text[end : code.start()]), f"`{code[0]}`")
        end = code.end()
    return "".join((*parts, mark.sub(r"\\\g<0>", text[end:])))


def _escape_opening(text: str) -> str:
    """Without what would make a heading, a list or a quotation of it where it opens a line."""
    opening = _BLOCK.match(text)
    if opening is None:
        return text
    if opening[0][0].isdigit():
        return f"{opening[0]}\\{text[opening.end() :]}"
    return f"\\{text}"
