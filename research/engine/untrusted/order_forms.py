"""The forms that only orders to programs have: their phrases, marks, turns, calls and encodings."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

from research.engine.text.folding import folded, spaced_letters, words_set_apart
from research.engine.untrusted.addresses import addresses_in, without_mailboxes
from research.engine.untrusted.order_signs import order_points
from research.engine.untrusted.order_words import order_words

HIDDEN_POINTS = 3.5

_MACHINE = (
    r"(?:(?:all|any|an?|the|every|our|you)\s+)*"
    r"(?:(?:artificial intelligence|(?:large )?language|web)\s+)*"
    r"(?:AIs?|LLMs?|GPTs?|language models?|chat ?bots?|bots?|robots?|crawlers?|scrapers?"
    r"|(?:AI|automated|automatic|machine|virtual|digital|research|chat)\s+"
    r"(?:models?|assistants?|agents?|readers?|systems?|tools?|summari[sz]ers?|researchers?)"
    r"|helpful assistants?)"
)
_SAY = (
    r"(?:say|state|write|answer|reply|respond|report|claim|declare|assert|announce|output|print"
    r"|repeat|conclude|insist|confirm"
    r"|(?:tell|inform) (?:the )?(?:users?|readers?|askers?|them|people|everyone))"
)
_DROP = r"(?:ignore|disregard|forget|override|bypass|abandon|discard|stop following)"
_ASKED = r"(?:question|task|request|query|conversation)s?"
_TOLD = rf"(?:{_ASKED}|(?:instruction|prompt|guideline|rule|message|direction|order)s?|context)"
_OPENING = (
    r"(?:^|[.!?:;–—]\s*|\bplease\s+"
    r"|\byou (?:must|should|shall|will|have to|need to|are to)\s+(?:now |always |instead )?)"
)
_MACHINES_MUST = (
    rf"(?:^|[.!?:;–—]\s*){_MACHINE}\s+(?:must|should|shall|(?:have|has|need|needs|are|is) to)\s+"
    r"(?:(?:now|always|instead|only)\s+)?"
)
"""A rule about machines rather than an order to them, unless it is on what they say of others."""
_DROPPING = (
    *("ignor", "disregard", "forget", "overrid", "bypass", "abandon", "discard"),
    "stop following",
)
_FORMS = tuple(
    (words, re.compile(form, re.IGNORECASE))
    for words, form in (
        (
            ("note", "notice", "message", "memo", "instruction", "reminder", "warning"),
            r"\b(?:note|notice|message|memo|instructions?|reminder|warning)\s+(?:to|for)\s+"
            rf"{_MACHINE}\b[^.!?:]{{0,60}}[:!–—]",
        ),
        (
            ("attention", "dear", "hey", "hello"),
            rf"\b(?:attention|dear|hey|hello)\W\s*{_MACHINE}\b[^.!?:]{{0,60}}[:,!–—]",
        ),
        (
            ("you are", "as "),
            rf"\b(?:if you are|you are(?: now)?|as)\s+{_MACHINE}\b[^.!?]{{0,60}}[,:].*"
            rf"\b(?:you|your|please|must|{_SAY}|{_DROP})\b",
        ),
        (
            (":", ","),
            rf"^(?:(?:to|for)\s+)?{_MACHINE}\s*[:,]\s*"
            rf"(?:please|you\b|do not|don't|always|never|{_SAY}|{_DROP})",
        ),
        ((" that",), rf"{_OPENING}{_SAY}(?:\s+(?!that\b)[\w']+){{0,3}}\s+that\b"),
        (
            (" that",),
            rf"{_MACHINES_MUST}{_SAY}(?:\s+(?!that\b)[\w']+){{0,3}}\s+that\b(?!\s+the(?:y|ir)\b)",
        ),
        (
            _DROPPING,
            rf"(?:{_OPENING}|{_MACHINES_MUST}){_DROP}\s+(?:[\w']+\s+){{0,3}}?"
            rf"(?:previous|prior|above|earlier|preceding|all|any|your|other|these|those)\s+"
            rf"(?:[\w']+\s+){{0,3}}?{_TOLD}\b",
        ),
        (
            (*_DROPPING, " aside"),
            rf"{_OPENING}(?:{_DROP}\s+(?:the|this)\s+{_ASKED}"
            rf"|(?:set|put|leave|lay)\s+(?:\w+\s+){{0,3}}{_ASKED}\s+aside)\b",
        ),
        (
            ("your ",),
            r"\byour (?:report|summary|overview|briefing|digest|research)\s+"
            r"(?:needs|lacks|must|should|has to|is to|will)\b",
        ),
        (
            (" with",),
            r"\b(?:begin|start|open|head|end|finish|close)\s+(?:(?:the|your|every|each|any|all)\s+)"
            r"(?:\w+\s+of\s+(?:the|your|any)\s+)?"
            r"(?:report|summary|summaries|overview|briefing|digest)s?\s+with\b",
        ),
        (
            (" that",),
            r"\b(?:are|is)\s+(?:expected|asked|required|obliged|requested)\s+to\s+"
            r"(?:mention|state|say|report|write|add|point out)\s+that\b",
        ),
    )
)
"""Each with words of which a text in this form has one, and most sentences none."""
_TEMPLATE = re.compile(
    r"<\|[^|>\n]{1,40}\|>|\[/?(?:INST|SYS|SYSTEM|ASSISTANT|USER)\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|(?:^|\n)[ \t]{0,8}#{2,6}[ \t]{0,3}(?:system|instruction|assistant|human|user)[ \t]{0,3}:"
    r"|</?(?:system|assistant|user|human|instructions?|prompt|tool|function|context|document|page"
    r"|developer|important|admin)(?:[_-]\w{1,30})?(?:\s[^<>]{0,80})?/?>",
    re.IGNORECASE,
)
"""Marks of chat programs, such as "<|im_start|>", "[INST]", "</context>"."""
_ROLE = (
    r"(?:system|assistant|user|human|developer|ai|bot|ki|nutzer|benutzer|assistent|utilisateur"
    r"|assistante?|usuario|asistente|assistente|utilizador|sistema|systeme|utente|gebruiker"
    r"|пользователь|ассистент|система|помощник|المستخدم|المساعد|النظام|用户|助手|系统|助理"
    r"|ユーザー?|アシスタント|システム|利用者)"
)
_TURN = re.compile(
    r"(?:^|[\n.!?。！？»”\"]\s{0,3})[\[<(*【]{0,4}"
    + _ROLE
    + r"[\]>)*】]{0,4}\s{0,3}[:：]\s{0,3}\S",
    re.IGNORECASE,
)
"""A turn of a conversation, such as "User: stop here"."""
_CALL = re.compile(
    r"(?<!\w)\w{0,30}(?:report|answer|finish|fetch|search|browse|query|tool|respond|submit|final)\w{0,30}\s{0,3}\("
    r"|[{\[]\s*\"[^\"\n]{0,60}(?:tool|function|action|answer|report|response|result|source|status"
    r"|final|citation|plan|query|instruct|resp|fuente|fonte|quelle|antwort|rapport|informe|relat"
    r"|bericht|plantilla|formato|format|ответ|отчет|источник|إجابة|تقرير|回答|报告|答案|来源|出典|報告)"
    r"[^\"\n]{0,60}\"\s*:",
    re.IGNORECASE,
)
"""A call of a tool, or an answer in JSON: "finish(report=…)", "{"answer": …}"."""
_FOR_MACHINES = re.compile(
    r"[<\[]([^\W\d][\w-]{0,40})(?:\s[^<>\[\]]{0,80})?[>\]].{1,400}[<\[]/\1[>\]]"
    r"|[^\W\d]\w{1,40}\(\s?(?:\w{1,40}\s?[=:]|[\"“'«])"
    r"|(?:[{\[,]\s?\"[^\"\n]{1,60}\"\s?:.{1,200}){2}"
    r"|(?:\b\w{1,40}\s?=\s?[^;=]{1,80};\s?){2}"
    r"|(?<!\w)[^\W\d_]{2,40}_[^\W\d_]{2,40}\s?[:=]"
)
"""Text for programs: `<a>…</a>`, `call(name=…)`, `{"a": …, "b": …}`, `a = 1; b = 2;`, `a_b: …`."""
_OF_MACHINES = re.compile(r"[<\[(\"=_]")
"""Characters of which each form of `_FOR_MACHINES` has one, and most sentences none."""
_CODED = re.compile(
    r"base\s?-?6[4a]|rot\s?-?(?:13|ie)|\b(?:un)?(?:decode|decipher|entschlussel|dekodier|decod)"
    r"|\b(?:decifr|descodific)|расшифр|декодир|فك (?:ال)?(?:ترميز|تشفير|شفرة)"
    r"|解码|解密|復号|デコード|解読"
)
"""What asks to decode something; "base6a" and "rotie" are folded."""
_YOU_ARE = re.compile(
    r"\b(?:you are (?:now |no longer )|from (?:now|here) on,? you|act as (?!if)"
    r"|pretend (?:to be|that you)|du bist (?:jetzt|nun|ab)|ab (?:jetzt|sofort) bist du"
    r"|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)"
    r"|ahora eres|a partir de ahora eres|agora voce e|a partir de agora voce)"
)
"""The opening of a part to play, such as "from now on you are …"."""
_IF_YOU_ARE = re.compile(
    r"\b(?:if you|wenn du|wenn sie|falls du|falls sie|bist du|sind sie|si vous|si tu|si eres)\b"
    r"|\b(?:si usted|se voce|se es|se sei|als je|als u|если вы|если ты)\b"
    r"|إذا كنت|اذا كنت|إن كنت|ان كنت|لو كنت|如果你|如果您|若你|若您|假如你|あなたが|貴方が"
)
"""The opening of an order to those who are programs: "if you are a model that …"."""


def takes_form(text: str, asked: str) -> bool:
    """Return whether a text has a form that only orders have; ignored for questions about machines
    or their instructions.
    """
    return not is_about_orders(asked) and (_has_form(text) or _hides_order(text, asked))


@lru_cache(maxsize=8_000)
def _has_form(text: str) -> bool:
    plain = folded(text)
    if _TEMPLATE.search(text) or _TURN.search(text) or _is_phrase(plain):
        return True
    held = order_words(plain)
    kinds = set().union(*(found.by_kind.keys() for found in held.values()))
    if "machine" in kinds and kinds & {"say", "cite", "act", "drop"} and _IF_YOU_ARE.search(plain):
        return True
    if _spells_order(text):
        return True
    if _CALL.match(plain.strip("`>*-•# ")):
        return True
    return bool(kinds - {"must"} and _YOU_ARE.search(plain))


def _is_phrase(plain: str) -> bool:
    """Return whether a folded text has a phrase of orders."""
    dotted = plain.replace("ı", "i")  # which is the same to a pattern that ignores the case
    return any(
        any(map(dotted.__contains__, words)) and form.search(plain) for words, form in _FORMS
    )


def is_for_machines(text: str) -> bool:
    """Return whether a text contains tags, a call or settings, which are for programs; the address
    in "Ada <ada@example.org>" is no tag.
    """
    told = without_mailboxes(text)
    return bool(_OF_MACHINES.search(told) and _FOR_MACHINES.search(told))


def _spells_order(text: str) -> bool:
    """Return whether an imperative verb is written with spaces between its letters, or several
    words with marks between theirs, which are no abbreviations.
    """
    glued = spaced_letters(text)
    apart = [word for word in words_set_apart(text) if word[1:].islower()]
    return len(apart) > 1 or any(verb in run for run in glued for verb in _SPELLED)


def _hides_order(text: str, asked: str) -> bool:
    return any(
        _CODED.search(folded(text)) or addresses_in(found) or looks_like_order(found, asked)
        for found in decoded_texts(text)
    )


@lru_cache(maxsize=256)
def is_about_orders(asked: str) -> bool:
    """Return whether a question is about programs that read, or about their instructions."""
    plain = folded(asked)
    return bool(_ABOUT_PROGRAMS.search(plain)) or any(
        "machine" in found.by_kind or found.by_kind.get("task", frozenset()) & _OF_PROGRAMS
        for found in order_words(plain).values()
    )


_ABOUT_PROGRAMS = re.compile(
    r"\b(?:prompt|chat[ -]templates?|jailbreak|chat tokens?)|提示词|提示語|プロンプト|промпт"
    r"|\bhidden (?:line|text|sentence|instruction|order)"
    r"|\b(?:ligne|consigne|instruction)s? cachees?"
    r"|\bversteckte[rsnm]? (?:zeile|satz|text|anweisung)|\b(?:linea|texto|instruccion) ocult[ao]"
)
_SPELLED = ("ignore", "disregard", "forget", "write", "answer", "reply", "report", "cite", "search")
_OF_PROGRAMS = frozenset({"prompt", "instruction", "system message", "system", "指令", "指示"})


def looks_like_order(text: str, asked: str) -> bool:
    """Return whether a hidden text is an order."""
    return takes_form(text, asked) or order_points(text, asked) >= HIDDEN_POINTS


_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w+/=])")
"""Such as "TGVhdmUgb3V0IHRoZSBzb3VyY2Vz"."""
_COMMON = frozenset({
    "the", "of", "and", "to", "in", "is", "that", "for", "with", "as", "from", "this", "be",
    "are", "was", "has", "you", "your",
})  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")
LEAST_WORDS = 4


@lru_cache(maxsize=4_000)
def decoded_texts(text: str) -> tuple[str, ...]:
    """Yield the readable texts that are encoded in a text."""
    return (*_from_base64(text), *_from_rot13(text))


def _from_base64(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        padded = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            found = base64.b64decode(padded + "=" * (-len(padded) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if found.isprintable() and " " in found:
            yield found


def _from_rot13(text: str) -> Iterator[str]:
    """Yield the text turned by thirteen letters, if only that makes English of it."""
    words = _LETTERS.findall(text.lower())
    if len(words) < LEAST_WORDS:
        return
    turned = codecs.encode(text, "rot13")
    common = len(_COMMON.intersection(_LETTERS.findall(turned.lower())))
    if common >= 2 and common > len(_COMMON.intersection(words)):
        yield turned
