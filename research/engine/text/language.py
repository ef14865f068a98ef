"""Language of a short text, by its script and its function words (rule F11).

Used for planning without a model; the fallback is the user's setting, else English. Comparisons
without a model use English stems only, and `language_limits` says so.
"""

from __future__ import annotations

import re

from research.engine.text.function_words import ENGLISH, language_by_words

__all__ = ["ENGLISH", "code_of", "language_limits", "language_of"]

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_NAMES = {
    "ja": "Japanese", "ko": "Korean", "zh": "Chinese", "ru": "Russian", "el": "Greek",
    "he": "Hebrew", "ar": "Arabic", "hi": "Hindi", "th": "Thai", "de": "German", "fr": "French",
    "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
}  # fmt: skip
_UNSPACED = frozenset({"ja", "zh", "th"})
_CODE = re.compile("[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_LEAST_SHARE = 0.3
"""Of the characters: a foreign name in an English question does not make it foreign."""


def language_of(text: str, otherwise: str = ENGLISH) -> str:
    """Return an ISO 639-1 code, or `otherwise` if the words identify no language."""
    letters = sum(map(str.isalpha, text)) or 1
    for code, script in _SCRIPTS:
        if len(script.findall(text)) >= _LEAST_SHARE * letters:
            return "ja" if code == "zh" and _SCRIPTS[0][1].search(text) else code
    return language_by_words(text, otherwise)


def code_of(written: str) -> str:
    """Return the code in a language tag; '' if it is none, such as a language's name."""
    code = written.strip().replace("_", "-")
    return code if _CODE.fullmatch(code) else ""


def language_limits(language: str) -> str:
    """Return a note on what works less well without a model than in English; '' if nothing does."""
    if language == ENGLISH:
        return ""
    name = _NAMES.get(language, "this language")
    if language in _UNSPACED:
        return f"In {name} words are not told apart: text is compared in pairs of characters."
    return f"In {name} words are compared as written: their endings and everyday words count too."
