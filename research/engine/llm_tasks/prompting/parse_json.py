"""Extract JSON objects from a model's text, ignoring reasoning, fences and prose.

What a person would read without a doubt is read: a comma too many, comments, single quotes,
Python's words for true and nothing, keys without quotes, a backslash that JSON doesn't know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_STARTS = 40
_THINKING = re.compile(
    r"\A(?P<before>[^{]*?)(?:<(?P<tag>think|thinking|thought|reasoning)>.*?(?:</(?P=tag)>|\Z)"
    r"|\[THINK\].*?(?:\[/THINK\]|\Z))",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING = re.compile(
    r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)
_TOKEN = re.compile(
    r"""(?P<beside>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<mark>[{}\[\]:,])
    |(?P<word>[^\s{}\[\]:,"']+)""",
    re.DOTALL | re.VERBOSE,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_PLAIN = re.compile(r"true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_KEY_ENDS = re.compile(r"\s*:")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\"", re.DOTALL)


def without_thoughts(text: str) -> str:
    """Return a model's text without its reasoning before the first object, whether or not its
    server kept the opening mark of the reasoning.
    """
    while thinking := _THINKING.match(text):
        text = thinking["before"] + text[thinking.end() :]
    closing = [mark.end() for mark in _CLOSING.finditer(text)]
    return text[closing[-1] :] if closing and "{" in text[closing[-1] :] else text


def parse_objects(text: str) -> Iterator[Any]:
    """Yield each complete object, or list with objects; nested ones are not searched for.

    Those inside unclosed reasoning at the end come last: some models never close it, and some
    answers mention such marks. Raises `RecursionError` and `ValueError` for JSON that Python can't
    represent.
    """
    plain = without_thoughts(text)
    yield from (found for found, _ in _find_values(plain))
    if plain != text:
        yield from (found for found, end in _find_values(text) if not text[end:].strip("` \n"))


def _find_values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield each value with its end position."""
    at, starts = 0, 0
    while (opening := _OPENING.search(text, at)) and starts < MOST_STARTS:
        opens, starts = opening.start(), starts + 1
        try:
            found, at = _DECODER.raw_decode(text, opens)
        except json.JSONDecodeError:
            read = _parse_lenient(text, opens)
            if read is None:
                at = opens + 1
                continue
            found, at = read
        if isinstance(found, dict) or any(isinstance(part, dict) for part in found):
            yield found, at


def _parse_lenient(text: str, opens: int) -> tuple[Any, int] | None:
    """Return the value that begins here, where putting small faults right makes it JSON."""
    written, depth = list[str](), 0
    for token in _scan_tokens(text, opens):
        mark, word = token["mark"], token["word"]
        if token["string"]:
            written.append(_quote_string(token["string"]))
        elif word:
            if (plain := _read_word(word, text, token.end())) is None:
                return None
            written.append(plain)
        elif mark:
            depth += (mark in "{[") - (mark in "}]")
            if mark in "}]" and written[-1] == ",":
                written.pop()
            written.append(mark)
            if depth == 0:
                break
    try:
        return json.loads("".join(written)), token.end()
    except json.JSONDecodeError:
        return None


def _scan_tokens(text: str, at: int) -> Iterator[re.Match[str]]:
    while (token := _TOKEN.match(text, at)) is not None:
        yield token
        at = token.end()


def _read_word(word: str, text: str, end: int) -> str | None:
    """Return a number, a constant, or a key without quotes; None for prose."""
    plain = _WORDS.get(word, word)
    if _PLAIN.fullmatch(plain):
        return plain
    return json.dumps(plain) if _KEY_ENDS.match(text, end) else None


def _quote_string(quoted: str) -> str:
    return '"' + _ESCAPE.sub(_fix_escape, quoted[1:-1]).replace("\n", "\\n") + '"'


def _fix_escape(found: re.Match[str]) -> str:
    said = found[0]
    if said == '"':
        return '\\"'
    if len(said) == 6 or said[1] in '"\\/bfnrt':
        return said
    return "'" if said[1] == "'" else f"\\\\{said[1]}"
