"""The kind of answer that a question asks for, by its question words, in languages other than
English.

Chinese and Japanese have no kinds: a requested name or number can't be recognised in an answer.
That a text is a question can.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Kind = Literal[
    "when", "where", "who", "how_many", "how_to", "how", "why", "what", "which",
    "comparison", "yes_no", "overview",
]  # fmt: skip

_WORDS: dict[str, tuple[tuple[Kind, str], ...]] = {
    "de": (
        ("comparison", r"\bvergleich\w*|\bunterschiede? zwischen\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^wie \w+ (?:ich|man|wir)\b"),
        (
            "how_many",
            r"\bwie ?(?:viele?|lange?|alt|weit|hoch|groß|oft|schnell|tief|schwer|teuer)\b",
        ),
        ("when", r"\bwann\b|\bwelche\w* (?:jahr|datum|monat|tag|jahrhundert)"),
        ("who", r"\b(?:wer|wen|wem|wessen)\b"),
        ("where", r"\bwo(?:hin|her)?\b"),
        ("why", r"\b(?:warum|weshalb|wieso)\b"),
        ("how", r"^wie\b"),
        ("which", r"\bwelche\w*\b"),
        ("what", r"\bwas\b"),
    ),
    "fr": (
        ("comparison", r"\bcompar\w+|\bdifférences? entre\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^comment (?:\w+(?:er|ir|re)|on|je)\b"),
        ("how_many", r"\bcombien\b"),
        ("when", r"\bquand\b|\bquel(?:le)? (?:année|date|jour|mois|siècle)\b"),
        ("who", r"(?:^|\b(?:par|à|de) )qui\b"),
        ("where", r"\boù\b"),
        ("why", r"\bpourquoi\b"),
        ("how", r"^comment\b"),
        ("which", r"\bquel(?:le)?s?\b"),
        ("what", r"^qu(?:e|oi|['’]est-ce)\b"),
    ),
    "es": (
        ("comparison", r"\bcompar\w+|\bdiferencias? entre\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^¿?cómo (?:\w+[aei]r|se)\b"),
        ("how_many", r"\bcuánt[oa]s?\b"),
        ("when", r"\bcuándo\b|\bqué (?:año|fecha|día|mes|siglo)\b"),
        ("who", r"\bquién(?:es)?\b"),
        ("where", r"\bdónde\b"),
        ("why", r"\bpor qué\b"),
        ("how", r"^¿?cómo\b"),
        ("which", r"\bcuál(?:es)?\b"),
        ("what", r"\bqué\b"),
    ),
    "it": (
        ("comparison", r"\bconfront\w+|\bdifferenz[ae] tra\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^come (?:\w+[aei]re|si)\b"),
        ("how_many", r"\bquant[oaie]\b"),
        ("when", r"\bquando\b|\bche (?:anno|data|giorno|mese|secolo)\b"),
        ("who", r"(?:^|\bda )chi\b"),
        ("where", r"\bdov(?:e|['’]è)\b"),
        ("why", r"\bperché\b"),
        ("how", r"^come\b"),
        ("which", r"\bqual[ei]?\b"),
        ("what", r"\bcos(?:a|['’]è)\b"),
    ),
    "pt": (
        ("comparison", r"\bcompar\w+|\bdiferenças? entre\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^como (?:\w+[aei]r|se)\b"),
        ("how_many", r"\bquant[oa]s?\b"),
        ("when", r"\bquando\b|\bque (?:ano|data|dia|mês|século)\b"),
        ("who", r"\bquem\b"),
        ("where", r"\bonde\b"),
        ("why", r"\bpor qu[eê]\b"),
        ("how", r"^como\b"),
        ("which", r"\bqua(?:l|is)\b"),
        ("what", r"^o que\b"),
    ),
    "nl": (
        ("comparison", r"\bvergelijk\w*|\bverschil(?:len)? tussen\b|\b(?:versus|vs\.?)"),
        ("how_to", r"^hoe \w+ (?:ik|je|men|we)\b"),
        ("how_many", r"\bhoe ?(?:veel|lang|oud|groot|hoog|vaak|snel|ver|diep|zwaar)\b"),
        ("when", r"\bwanneer\b|\bwelke? (?:jaar|datum|dag|maand|eeuw)\b"),
        ("who", r"^wie\b|\bdoor wie\b"),
        ("where", r"\bwaar\b"),
        ("why", r"\bwaarom\b"),
        ("how", r"^hoe\b"),
        ("which", r"\bwelke?\b"),
        ("what", r"\bwat\b"),
    ),
    "ja": (
        ("what", r"いつ|いく[つら]|誰|だれ|どこ|なぜ|どうして|ど[のれ]|どちら|何|とは|[かの][?？]"),
    ),
    "zh": (("what", r"什么|何时|何处|为何|多少|几|谁|哪|怎|如何|多[长高大远久快深重]|[吗呢]"),),
}


_OPEN_ENDED = re.compile(
    r"\b(?:auswirkung|folgen|vorteil|nachteil|chancen|risik|zukunft|überblick|entwicklung|geschichte"
    r"|vergleich|effets?|conséquence|avantage|inconvénient|risque|avenir|évolution|histoire"
    r"|efectos?|consecuencia|ventaja|desventaja|riesgo|futuro|evolución|historia|effett|conseguenz"
    r"|vantagg|svantagg|rischi|evoluzione|storia|efeito|consequência|vantage|desvantage|riscos"
    r"|evolução|história|gevolgen|effecten|voordelen|nadelen|toekomst|ontwikkeling|geschiedenis)"
    r"|影響|影响|効果|作用|利点|欠点|优点|缺点|优势|課題|挑战|风险|将来|未来|歴史|历史|比較|比较|趋势",
    re.IGNORECASE,
)
"""Openings of words by which a question asks for many sides."""


def asked_in(language: str, text: str) -> Kind | None:
    """Return the kind of a question; None if no question word identifies it."""
    return next((kind for kind, cue in _question_cues(language) if cue.search(text)), None)


def is_open_ended(text: str) -> bool:
    """Return whether a question asks for effects, advantages, a history and the like."""
    return _OPEN_ENDED.search(text) is not None


@cache
def _question_cues(language: str) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    written = _WORDS.get(language, ())
    return tuple((kind, re.compile(cue, re.IGNORECASE)) for kind, cue in written)
