"""Labels for sentences of the short answer whose wording doesn't name their subject.

A sentence that opens with a pronoun, or with an article and a noun that nothing named before, is
read as one on the subject of the sentence in front of it. Unless that one is from the same page and
on the same sub-question, it stands behind a label: its sub-question, or the title of its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import cache

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.offline.drafting import lead_in
from research.engine.offline.passages.shown_passages import shown_text
from research.engine.records import Evidence
from research.engine.report.draft import Statement, aspect_of
from research.engine.text.language import ENGLISH
from research.engine.text.tokens import STOP_WORDS, capitalize_heading, term_set

_PRONOUNS = {
    "en": "it|its|he|she|his|hers?|they|their|theirs|this|that|these|those|such|both|the (?:former"
    "|latter|same|other)",
    "de": "er|sie|es|sein\\w{0,2}|ihr\\w{0,2}|dies\\w{0,2}|jene\\w?|beide|das (?:ist|sind|war|waren"
    "|wird|wurde|hat)",
    "fr": "il|elle|ils|elles|ce|cet|cette|ces|cela|son|sa|ses|leurs?|c['’]",
    "es": "él|ella|ellos|ellas|est[aeo]s?|es[aeo]s?|sus?|ambos",
    "it": "ess[oaie]|lui|lei|loro|quest[oaie]|quell[oaie]|su[oa]|entrambi",
    "pt": "eles?|elas?|est[ae]s?|ess[ae]s?|isto|isso|seus?|suas?|ambos",
    "nl": "hij|zij|ze|dit|dat|deze|zijn|haar|hun|beide|het (?:is|was|werd|wordt|heeft|had)",
}
_ARTICLES = {
    "en": "the",
    "de": "der|die|das",
    "fr": "les?|la|l['’]",
    "es": "el|la|los|las",
    "it": "il|lo|la|i|gli|le|l['’]",
    "pt": "o|a|os|as",
    "nl": "de|het",
}
_POINTERS = {
    "en": "this|these(?! days)|such(?! as)|(?:calls?|credits?|explains?|puts?|attributes?"
    "|ascribes?|regards?) (?:it|them)",
    "de": "dies\\w{0,2}|solch\\w{0,2}",
    "fr": "cet|cette|ces",
    "es": "est[aeo]s?|es[aeo]s?|dich[oa]s?",
    "it": "quest[oaie]|tal[ei]",
    "pt": "est[ae]s?|ess[ae]s?",
    "nl": "dit|deze|dergelijke|zulke",
}
_CONNECTIVES = {
    "en": "as a result|therefore|thus|hence|however|instead|moreover|another|others",
    "de": "deshalb|daher|darum|dadurch|dennoch|jedoch|stattdessen|außerdem|andere",
    "fr": "donc|ainsi|cependant|en revanche|d['’]autres",
    "es": "por (?:eso|ello|tanto)|así|sin embargo|en cambio|otr[oa]s?",
    "it": "perciò|quindi|tuttavia|invece|altr[ie]",
    "pt": "por isso|assim|porém|no entanto|outr[oa]s?",
    "nl": "daarom|daardoor|dus|echter|andere",
}
_TOLD_BEFORE = {
    "en": "that(?=[,.;:)]|$)|(?:do|does|did|doing) so|the (?:former|latter|above)|note, however",
    "de": "da(?:für|gegen|von|mit|zu|ran|rin|rüber|raus|nach|bei|durch)|letztere[rns]?"
    "|hier(?:für|gegen|von|mit|zu)|erstere[rns]?",
    "fr": "cela|ça|(?:ce|cette|ces) dernier\\w*|celui-ci|celle-ci|ceux-ci",
    "es": "(?:este|esta|estos|estas) últim[oa]s?|lo anterior",
    "it": "ciò|quest'ultim[oa]",
    "pt": "disso|disto|nisso|nisto|isso|isto|(?:este|esta) últim[oa]",
    "nl": "(?:daar|hier|er)(?:voor|van|mee|tegen|toe|aan|in|over|na|bij|door)",
}
_PERSONS = frozenset({"it", "he", "she", "they", "him", "them"})
_WORD = re.compile(r"[^\W_]+")
OPENING_WORDS = 4
"""Words after an article among which the subject has to be named."""


def with_subjects(short: Sequence[Statement], ledger: Ledger) -> tuple[Statement, ...]:
    """Return the short answer with a label before each sentence that doesn't name its subject."""
    return tuple(_labelled(short, ledger))


def _labelled(short: Sequence[Statement], ledger: Ledger) -> Iterator[Statement]:
    known, told = term_set(ledger.question), set[str]()
    before: Statement | None = None
    for each in short:
        aspect = aspect_of(each, ledger)
        leans = leans_back(each.body, ledger.plan.language, known)
        if each.evidence and not each.lead_in and leans and not _goes_on(before, each, ledger):
            named = _label(each, ledger, told)
            yield replace(each, text=f"{named}{each.text}", lead_in=named)
        else:
            yield each
        told |= {aspect} if aspect else set()
        known |= term_set(each.body)
        before = each


def leans_back(sentence: str, language: str, known: Set[str]) -> bool:
    """Return whether a sentence opens with a pronoun, or with an article and words of which none is
    a name or has one of the `known` terms.
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    pronoun, article = _openings(code if code in _PRONOUNS else ENGLISH)
    if pronoun.match(sentence):
        return True
    opening = article.match(sentence)
    if opening is None:
        return False
    words = _WORD.findall(sentence[opening.end() :])[:OPENING_WORDS]
    # In German each noun is written like a name.
    named = code != "de" and any(word[0].isupper() or word[0].isdigit() for word in words)
    return not named and not term_set(" ".join(words)) & known


def opens_with_pronoun(sentence: str, language: str) -> bool:
    """Return whether the subject of a sentence is named in the one before it."""
    code = language.lower().replace("_", "-").partition("-")[0]
    pronoun, _ = _openings(code if code in _PRONOUNS else ENGLISH)
    return pronoun.match(sentence) is not None


def refers_back(sentence: str, language: str, known: Set[str]) -> bool:
    """Return whether a sentence is hard to understand without the one before it: it leans back,
    opens with a connective, or points at something in it.
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    pointer, connective = _references(code if code in _POINTERS else ENGLISH)
    is_linked = connective.match(sentence) or pointer.search(sentence)
    return bool(is_linked) or leans_back(sentence, language, known)


def needs_before(sentence: str, language: str) -> bool:
    """Return whether a sentence on a page is hard to understand without the one before it: it
    refers back by its opening, by a word in it that stands for what was told, or as an aside in
    brackets.
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    if sentence.startswith(("(", "（")) or turns_back_early(sentence, language, frozenset()):
        return True
    pointer, connective = _references(code if code in _POINTERS else ENGLISH)
    told = _told_before(code if code in _TOLD_BEFORE else ENGLISH)
    pronoun, _ = _openings(code if code in _PRONOUNS else ENGLISH)
    return any((pronoun.match(sentence), connective.match(sentence),
                pointer.search(sentence), told.search(sentence)))  # fmt: skip


@cache
def _told_before(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{_TOLD_BEFORE[code]})(?![^\W_])", re.IGNORECASE)


def turns_back_early(sentence: str, language: str, known: Set[str]) -> bool:
    """Return whether an English sentence has a pronoun in its first words behind a word that opens
    a clause, and nothing between them that it may stand for: "If it fails", "By default it is".
    """
    words = _WORD.findall(sentence)[:OPENING_WORDS]
    at = next((at for at, word in enumerate(words) if at and word in _PERSONS), 0)
    if not at or words[0].lower() not in STOP_WORDS or language[:2].lower() != ENGLISH:
        return False
    between = words[1:at]
    is_named = any(word[0].isupper() or word[0].isdigit() for word in between)
    return not is_named and not term_set(" ".join(between)) & known


def opens_with_reference(sentence: str, language: str, known: Set[str]) -> bool:
    """Return whether a sentence opens with a reference to the one before it, as "These must then"
    and "If this is not done" do. A noun with an article is none: the headings of the page name it.
    """
    opening = " ".join(sentence.split()[:OPENING_WORDS])  # not "as it is to this day"
    return refers_back(opening, language, term_set(opening)) or turns_back_early(
        opening, language, known
    )


def leans_alone(record: Evidence, ledger: Ledger) -> bool:
    """Return whether a quotation of a record would point at what isn't there."""
    if ledger.began < Form.EDITED:
        return False
    known = term_set(f"{ledger.question} {record.sources[0].title}")
    return opens_with_reference(shown_text(record), ledger.plan.language, known)


@cache
def _references(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    pointer, connective = (
        re.compile(rf"(?<![^\W_])(?:{words[code]})(?![^\W_])", re.IGNORECASE)
        for words in (_POINTERS, _CONNECTIVES)
    )
    return pointer, connective


@cache
def _openings(code: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    pronoun, article = (
        re.compile(rf"[“„«\"]?(?:{words[code]})(?![^\W_])", re.IGNORECASE)
        for words in (_PRONOUNS, _ARTICLES)
    )
    return pronoun, article


def _goes_on(before: Statement | None, said: Statement, ledger: Ledger) -> bool:
    """Return whether the sentence before is from the same page and on the same sub-question."""
    if before is None or aspect_of(before, ledger) != aspect_of(said, ledger):
        return False
    return bool(_pages_of(before, ledger) & _pages_of(said, ledger))


def _pages_of(said: Statement, ledger: Ledger) -> set[str]:
    records = (ledger.book.records[i] for i in said.evidence if i in ledger.book.records)
    return {source.url for record in records for source in record.sources}


def _label(said: Statement, ledger: Ledger, told: Set[str]) -> str:
    """Return the sub-question, where there are several and nothing answered it before; else the
    title of the page.
    """
    aspect = aspect_of(said, ledger)
    if aspect and aspect not in told and len(ledger.aspects) > 1:
        return f"**{capitalize_heading(ledger.aspects[aspect].text)}** "
    record = next(ledger.book.records[i] for i in said.evidence)
    return f"**{lead_in(record.sources[0])}:** "
