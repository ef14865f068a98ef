"""Claims that code vouches for: the words of a quote in their order, with nothing left out that
could change the rest.

Text between commas, in brackets or after a semicolon may be left out, unless it restricts,
hedges or reports. Figures and dates may be written otherwise, an acronym for its words and
articles at will; everything else is worded as in the quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from research.engine.evidence.claims.alignment import ARTICLES, Token, matched_to, tokens_of
from research.engine.evidence.claims.clauses import sentences_of
from research.engine.text.tokens import normalise_space, stem

_RESTRICTS = re.compile(  # what may change the rest of its sentence
    r"\b(?:if|unless|until|till|only|except|provided|providing|may|might|could|would|should|but"
    r"|though"
    r"|although|however|whereas|while|said|says?|according|told|argues?|argued|claims?|claimed"
    r"|reports?"
    r"|reported|suggests?|suggested|believes?|believed|thinks?|thought|write|writes|wrote|not|no"
    r"|never"
    r"|neither|nor|none|without|than|when|where|once|as long|some|most|mostly|mainly|partly|about"
    r"|roughly|nearly|almost|up to|at least|at most|estimated|expected|planned|likely|possibly"
    r"|perhaps"
    r"|respectively|instead|rather|because of|in case|condition|usually|often|sometimes|apart)\b",
    re.IGNORECASE,
)
_EXCLUDES = re.compile(  # what an amount or a rule leaves out
    r"\b(?:excluding|excluded|exclusive of|excepting|net of|not counting|leaving out|leaving aside"
    r"|apart from|aside from|other than|besides|less)\b",
    re.IGNORECASE,
)
_OPENS_ASIDE = frozenset((",", ";", ":", "(", "—", "–"))
_CLOSES_ASIDE = frozenset((",", ";", ":", ")", "—", "–"))
_PREPOSITIONS = frozenset(map(stem, (
    "in", "on", "at", "for", "under", "with", "during", "among", "within", "outside", "inside",
    "after", "before", "since", "by", "over", "between", "from", "to",
)))  # fmt: skip
"""What may open a phrase that says where, when or of whom the rest is true."""
_EXPANDED = re.compile(
    r"(?P<words>(?:[\w’'-]{1,30}\s){1,7})\((?P<acronym>[A-Z][A-Za-z]{0,5}[A-Z])\)"
)
_BEGINS = re.compile(r"(?:^|[.!?…][\"”’)\]]*\s)")
"""The beginning of the text, or the end of the previous sentence."""
_OPENING_PHRASE = re.compile(  # "If it rains, …", "On 28 March, …"
    r"(?P<phrase>(?:If|When|Unless|After|Before|Because|Although|Though|While|In|On|At|From|Since"
    r"|During|Until)\s[^,;:()]{3,120}),\s(?=[^,;:]+$)"
)
_DESCRIBED = re.compile(  # "The operator, VVB, has …"
    r"^(?:The|Its|His|Her|Their|An?)\s[a-z][a-z -]{2,40},\s"
    r"(?P<name>[A-Z][^,;:()]{1,60}?)(?:\s\([^()]{1,60}\))?,\s"
)
_SAID_BY = re.compile(r",\s(?:said|says)\s(?=[^,;]{2,40}(?:,\s[^,;]{2,40})?\.$)")
_IDLE = frozenset(map(stem, ("therefore", "thus", "hence", "moreover", "furthermore", "also")))
"""What joins a sentence to the one before it."""
_IN_BRACKETS = re.compile(r"\s\([A-Z][A-Za-z]{0,5}[A-Z]\)")
_PRONOUN = re.compile(r"(?:It|He|She|They|This|These)\b")
_OPENING = re.compile(r"(?P<article>The\s)?(?P<name>[A-Z][\w’'-]*(?:\s[A-Z][\w’'-]*){0,5})")
_MARKS = frozenset((",", ";", ":", "(", ")", "—", "–"))


def is_vouched(claim: str, quote: str, context: str) -> bool:
    """Return whether the claim is the quote's words in their order, trimmed at most of asides.

    A name of the context may replace the pronoun that opens a sentence of the quote.
    """
    if is_verbatim(claim, quote):
        return True
    sentences = dict.fromkeys(
        form for sentence in sentences_of(quote) for form in _forms(sentence, claim, context)
    )
    every = sentences_of(claim)
    return bool(every) and all(
        any(_is_trimmed(said, sentence) for sentence in sentences) for said in every
    )


def _forms(sentence: str, claim: str, context: str) -> Iterator[str]:
    """Yield the sentence as it is, with what opens it at its end, without the description of the
    name that follows it, with acronyms for what they abbreviate, without the acronyms, and with
    the name that the claim opens with for the pronoun.
    """
    yield sentence
    if opens := _OPENING_PHRASE.match(sentence):
        main = sentence[opens.end() :].rstrip(".")
        yield f"{main} {opens['phrase']}."
    yield _DESCRIBED.sub(lambda found: f"{found['name']} ", sentence)
    yield _SAID_BY.sub(", according to ", sentence)
    yield _EXPANDED.sub(_acronym_alone, sentence)
    yield _IN_BRACKETS.sub("", sentence)
    pronoun = _PRONOUN.match(sentence)
    if pronoun and (name := _opening_name(claim, context)):
        rest = sentence[pronoun.end() :]
        yield f"{name}{rest}"


def _acronym_alone(match: re.Match[str]) -> str:
    """Return the acronym in place of the words before it, where their initials make it."""
    words, acronym = match["words"].split(), match["acronym"]
    for at in range(len(words)):
        initials = "".join(w[0] for w in words[at:] if w[0].isupper())
        if initials == acronym.upper():
            return " ".join((*words[:at], acronym))
    return match[0]


def _opening_name(claim: str, context: str) -> str:
    """Return the name that opens the claim, if the context has it."""
    opening = _OPENING.match(claim)
    words = opening["name"].split() if opening else []
    for size in range(len(words), 0, -1):
        name = " ".join(words[:size])
        if opening and re.search(rf"\b{re.escape(name)}\b", context):
            return f"{opening['article'] or ''}{name}"
    return ""


def drops_exclusion(claim: str, quote: str) -> bool:
    """Return whether the quote leaves something out of account and the claim doesn't say so."""
    return len(_EXCLUDES.findall(claim)) < len(_EXCLUDES.findall(quote))


def is_verbatim(claim: str, quote: str) -> bool:
    """Return whether the claim is whole sentences of the quote."""
    said, quoted = normalise_space(claim), normalise_space(quote)
    if said not in quoted or claim.rstrip('"”’)')[-1:] not in set(".!?…"):
        return False
    padded = f"{quoted} "
    return any(padded.startswith(f"{said} ", each.end()) for each in _BEGINS.finditer(quoted))


def _is_trimmed(claim: str, sentence: str) -> bool:
    quoted = [token for token in tokens_of(sentence) if token.key not in ARTICLES | _IDLE]
    said = [
        token
        for token in matched_to(tokens_of(claim), quoted)
        if token.key not in ARTICLES and token.key not in _MARKS
    ]
    plain = [token for token in quoted if token.kind != "mark"]
    aligned = _aligned([t.key for t in said], [t.key for t in plain])
    if not said or aligned is None:
        return False
    kept = {plain[at].start for at in aligned}
    return all(_may_go(run, sentence, quoted) for run in _left_out(quoted, kept))


def _aligned(said: Sequence[str], quoted: Sequence[str]) -> list[int] | None:
    """Return the place of each word of the claim in the sentence; None where one has none
    in order.
    """
    if not set(said).issubset(quoted):
        return None
    blocks = SequenceMatcher(None, said, quoted, autojunk=False).get_matching_blocks()
    places = [block.b + step for block in blocks for step in range(block.size)]
    return places if len(places) == len(said) else None


def _left_out(quoted: Sequence[Token], kept: set[int]) -> list[list[int]]:
    """Return the runs of words that the claim leaves out, as places in the sentence."""
    runs: list[list[int]] = []
    open_run: list[int] = []
    for place, token in enumerate(quoted):
        if token.kind == "mark":
            continue
        if token.start in kept:
            if open_run:
                runs.append(open_run)
            open_run = []
        else:
            open_run.append(place)
    return [*runs, open_run] if open_run else runs


def _may_go(run: Sequence[int], sentence: str, quoted: Sequence[Token]) -> bool:
    """Return whether the words may be left out: an aside between marks, or a clause at the end."""
    first, last = run[0], run[-1]
    words = sentence[quoted[first].start : quoted[last].end]
    if _RESTRICTS.search(words):
        return False
    before = quoted[first - 1].key if first else ""
    after = quoted[last + 1].key if last + 1 < len(quoted) else ""
    at_end = after == "" or after == ";"
    if before == ";" or (before == "(" and after == ")"):
        return True
    if first == 0:
        return after in {";", ":"}
    if quoted[first].key in _PREPOSITIONS:
        return False
    if quoted[first].key == "and" and at_end:
        return True
    return before in _OPENS_ASIDE and (at_end or after in _CLOSES_ASIDE)
