"""Parse the kind of a question and the kind of answer it asks for from its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from research.engine.journal.forms import Form
from research.engine.records import Complexity
from research.engine.text import entities
from research.engine.text.language import ENGLISH, language_of
from research.engine.text.tokens import normalise_space, split_terms, split_tokens, unique_texts

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
"""Question words of other languages than English.

Chinese and Japanese have no kinds: a requested name or number can't be recognised in an answer.
That a text is a question can.
"""

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

_CUES: tuple[tuple[Kind, str], ...] = (
    ("comparison", r"\b(?:versus|vs\.?|compared? (?:to|with)|compare|difference between)\b"),
    ("how_to", r"^(?:how (?:to|(?:do|can|should) (?:i|you|we|one))\b|steps to\b|recipe\b)"),
    ("how_many", r"\bhow (?:many|much|long|old|far|tall|big|large|high|often|fast|deep|heavy)\b"),
    (
        "how_many",
        r"^what(?:'s| is) the (?:maximum|minimum|"
        r"(?:largest|smallest|longest|shortest|highest|lowest) (?:possible |allowed )?"
        r"(?:number|amount|count|size|length|width|depth|value))\b",
    ),
    ("when", r"\bwhen (?:did|was|were|is|will|does|do)\b"),
    ("when", r"\b(?:what|which) (?:year|date|month|day|century)\b"),
    ("who", r"\b(?:who|whom|whose)\b"),
    ("where", r"\bwhere\b|\b(?:what|which) (?:city|country|state|county|place|town|region)\b"),
    ("why", r"^why\b|\bwhat (?:causes|is the reason)\b"),
    ("how", r"^how\b"),
    ("yes_no", r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may)\b"),
    ("which", r"\bwhich\b"),
    ("what", r"\bwhat\b|^define\b"),
)
FEW_WORDS = 8
_KINDS = tuple((kind, re.compile(cue, re.IGNORECASE)) for kind, cue in _CUES)
_OPEN_ENDED_ENGLISH = re.compile(
    r"\b(?:impacts?|effects?|influence|implications?|consequences?|trade-?offs?|pros and cons"
    r"|advantages|disadvantages|benefits|risks|challenges|future|outlook|landscape|overview"
    r"|state of|history of|evolution|trends?|compare|comparison|versus|strateg(?:y|ies)"
    r"|role of|relationship between|best practices|approaches|options)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"(?<!\s)\s+or\s+", re.IGNORECASE)

_COMPARES = re.compile(r"\b(?:versus|vs\.?|compared?)(?=\s)", re.IGNORECASE)
"""Words that say how to answer, not what is asked about."""


@dataclass(frozen=True)
class Asked:
    """A question read: `terms` are its stems in order, `names` the proper names in it."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: tuple[str, ...]
    complexity: Complexity


def read_question(text: str) -> Asked:
    """Kind, terms, names and complexity of a question, by its wording alone."""
    plain = normalise_space(text)
    kind = _question_kind(plain)
    names = tuple(name for name in entities.find_names(plain) if split_terms(name))
    about = _COMPARES.sub(" ", plain) if kind == "comparison" else plain
    return Asked(
        plain,
        kind,
        tuple(unique_texts(split_terms(about))),
        names,
        _question_complexity(plain, kind, names),
    )


def _question_kind(text: str) -> Kind:
    language = language_of(text)
    if language != ENGLISH and (foreign := asked_in(language, text)):
        return foreign
    found: Kind | None = next((kind for kind, cue in _KINDS if cue.search(text)), None)
    return found or "overview"


def _question_complexity(text: str, kind: Kind, names: tuple[str, ...]) -> Complexity:
    """Open-ended wording is complex; a plain how-to, definition or single fact is simple."""
    words = len(split_tokens(text))
    several = {"overview", "what", "how", "which", "comparison"}
    english = language_of(text) == ENGLISH
    if kind == "comparison" and words <= FEW_WORDS:
        return Complexity.ORDINARY
    if kind in several and (_OPEN_ENDED_ENGLISH.search(text) if english else is_open_ended(text)):
        return Complexity.COMPLEX
    if kind == "overview" and words > 3:
        return Complexity.COMPLEX
    if kind == "how_to" or words <= 6:
        return Complexity.SIMPLE
    if kind == "what" and words <= FEW_WORDS and len(names) <= 1:
        return Complexity.SIMPLE
    return Complexity.ORDINARY


def compared_sides(asked: Asked) -> tuple[str, str] | None:
    """Return the two things that an "A or B" question sets against each other."""
    last = re.split("[,?]", asked.text.removesuffix("?"))[-1]
    either = _OR.split(last, maxsplit=1)
    if len(either) < 2:
        return None
    one, other = map(entities.find_names, either)
    if one and other:
        return one[-1], other[0]
    return None


def asked_in(language: str, text: str) -> Kind | None:
    """Return the kind of a question that isn't English; None if no question word identifies it."""
    return next((kind for kind, cue in _question_cues(language) if cue.search(text)), None)


def is_open_ended(text: str) -> bool:
    """Return whether a question that isn't English asks for effects, a history and the like."""
    return _OPEN_ENDED.search(text) is not None


@cache
def _question_cues(language: str) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    written = _WORDS.get(language, ())
    return tuple((kind, re.compile(cue, re.IGNORECASE)) for kind, cue in written)


_CONJUNCTIONS = {
    "en": ("and", "or"), "de": ("und", "oder"), "fr": ("et", "ou"), "es": ("y", "e", "o", "u"),
    "it": ("e", "o"), "pt": ("e", "ou"), "nl": ("en", "of"),
}  # fmt: skip


def asked_parts(text: str) -> list[str]:
    """Return what a question asks for one by one, with commas, "and", "or" or several question
    marks between.
    """
    words = "|".join(_CONJUNCTIONS.get(language_of(text), _CONJUNCTIONS[ENGLISH]))
    ends = rf"[?？;；，、]|,(?=\s)(?:\s+(?:{words})\b)?|\s(?:{words})\s"
    parts = (normalise_space(part) for part in re.split(ends, text, flags=re.IGNORECASE))
    return [part for part in parts if split_terms(part)]


_COURSE = re.compile(
    r"\b(?:timeline|chronolog\w+|(?:course|sequence|order) of (?:the |all )?events|turning points?"
    r"|in (?:the )?order(?! to\b)|in (?:their |date )?sequence|Zeit(?:leiste|tafel)|Chronik"
    r"|cronolog\w+|frise|línea de tiempo|linea del tempo|linha do tempo|tijdlijn)\b",
    re.IGNORECASE,
)


_HISTORY = re.compile(
    r"(?<!\bin )\b(?:the|(?:(?:the|an?) )?(?:brief|short|whole|entire|full|complete|early|long))"
    r" history of\b(?! (?:\w+ )?(?:commands?|queries|searches|edits|jobs|logins?|calls)\b)"
    r"|\bhistorical (?:development|overview)|\b(?:come|came) about\b"
    r"|(?<!\bin der )\bGeschichte (?:de[rs]|vo[nm])\b(?<!eine Geschichte von)"
    r"|\b(?:Entstehungs|Vor)geschichte\b|\bWerdegang\b|\bHergang\b"
    r"|\b(?:Ablauf|Verlauf) der Ereignisse"
    r"|\b(?:zeitliche|historische|geschichtliche)[nr]? (?:Ablauf|Verlauf|Entwicklung)\b"
    r"|(?<!\bdans )(?<!de )\bl['’]histoire d(?:[eu]\b|es\b|['’])|\bdéroulement des\b"
    r"|\bévolution historique|(?<!\ben )\bla historia del?\b|\bevolución histórica"
    r"|\bdesarrollo de los (?:hechos|acontecimientos)|\bla storia (?:d[ei]l?|dell[aeo]|degli|dei)\b"
    r"|\bla storia dell['’]|\bevoluzione storica|\bsvolgimento dei fatti|\ba história d[aeo]s?\b"
    r"|\bevolução histórica|(?<!\bin )\bde geschiedenis van\b|\bverloop van de gebeurtenissen",
    re.IGNORECASE,
)
"""Asked for in other words, since `Form.EDITED`. What was the first or largest "in the history of"
something asks for a single thing, and the history of commands is a list that a program keeps.
"""


@lru_cache(maxsize=1024)
def asks_for_course(text: str, began: Form) -> bool:
    """Return whether a question asks for the course of events, such as "in order, with dates" or,
    since `Form.EDITED`, as the history of something.
    """
    return bool(_COURSE.search(text) or (began >= Form.EDITED and _HISTORY.search(text)))
