"""The JSON objects in a model's text, past its thoughts, fences and chatter.

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
    """A model's text without what it thought aloud before its first object, whether or not its
    server kept the mark that opens the thoughts.
    """
    while thinking := _THINKING.match(text):
        text = thinking["before"] + text[thinking.end() :]
    closing = [mark.end() for mark in _CLOSING.finditer(text)]
    return text[closing[-1] :] if closing and "{" in text[closing[-1] :] else text


def objects(text: str) -> Iterator[Any]:
    """Each object, or list with objects, that is whole; nested ones are not looked for.

    At last come those among the thoughts that end the text: some models never close their
    thoughts, and some answers speak of such marks. Raises `RecursionError` and `ValueError` for
    JSON that Python can't hold.
    """
    plain = without_thoughts(text)
    yield from (found for found, _ in _found(plain))
    if plain != text:
        yield from (found for found, end in _found(text) if not text[end:].strip("` \n"))


def _found(text: str) -> Iterator[tuple[Any, int]]:
    """Each value with where it ends."""
    at, starts = 0, 0
    while (opening := _OPENING.search(text, at)) and starts < MOST_STARTS:
        opens, starts = opening.start(), starts + 1
        try:
            found, at = _DECODER.raw_decode(text, opens)
        except json.JSONDecodeError:
            read = _lenient(text, opens)
            if read is None:
                at = opens + 1
                continue
            found, at = read
        if isinstance(found, dict) or any(isinstance(part, dict) for part in found):
            yield found, at


def _lenient(text: str, opens: int) -> tuple[Any, int] | None:
    """The value that begins here, where putting small faults right makes it JSON."""
    written, depth = list[str](), 0
    for token in _tokens(text, opens):
        mark, word = token["mark"], token["word"]
        if token["string"]:
            written.append(_string(token["string"]))
        elif word:
            if (plain := _word(word, text, token.end())) is None:
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


def _tokens(text: str, at: int) -> Iterator[re.Match[str]]:
    while (token := _TOKEN.match(text, at)) is not None:
        yield token
        at = token.end()


def _word(word: str, text: str, end: int) -> str | None:
    """A number, a constant, or a key without quotes; None for prose."""
    plain = _WORDS.get(word, word)
    if _PLAIN.fullmatch(plain):
        return plain
    return json.dumps(plain) if _KEY_ENDS.match(text, end) else None


def _string(quoted: str) -> str:
    return '"' + _ESCAPE.sub(_escaped, quoted[1:-1]).replace("\n", "\\n") + '"'


def _escaped(found: re.Match[str]) -> str:
    said = found[0]
    if said == '"':
        return '\\"'
    if len(said) == 6 or said[1] in '"\\/bfnrt':
        return said
    return "'" if said[1] == "'" else f"\\\\{said[1]}"
