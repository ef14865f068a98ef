"""Evidence store: one record per claim, with a quote of each page that supports it.

Rules D5 and F1 of `docs/requirements.md`. Independence is a key per source; confidence is
`1 - 0.5 ** n` over n keys, times `UNCERTAIN` where a flag is set. No model has a say in it.

Like claims are twins where nothing sets them apart: number, name, negation, direction, certainty,
or who does it to whom. They contradict each other where they speak of the same names and one
negates the other or gives another figure for the same measure; of one thing, so not where each sets
it apart by a word of its own ("bell tower", "gate tower"). Claims worded otherwise contradict each
other where both fill the same slot of their sub-question with a different amount.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from research.engine.evidence import claim_check
from research.engine.evidence.claims.names import identifiers_in
from research.engine.records import Evidence, QuoteSource, Uncertainty
from research.engine.text import entities
from research.engine.text.quantities import Figures, figures_conflict, parse_figures, same_figures
from research.engine.text.similarity import NearDuplicates, jaccard
from research.engine.text.tokens import STOP_WORDS, split_tokens, stem, term_set

UNCERTAIN = 0.8


@dataclass(frozen=True)
class Finding:
    """A checked claim with its quote, on its way into the ledger.

    `also` are further quotes of the same page that belong to it, such as the term that the
    quote defines.
    """

    claim: str
    aspect_id: str | None
    source: QuoteSource
    relevance: float
    uncertainty: tuple[Uncertainty, ...] = ()
    also: tuple[QuoteSource, ...] = ()


@dataclass
class EvidenceStore:
    """All evidence of a run in canonical order; finds twins and contradictions by words.

    `asked` are the terms of each sub-question; `copies` knows which pages are one source.
    `last` is the highest number that was given to a record. Claims with different identifiers
    (settings, columns, functions) are never merged. With `dates_clauses` a figure has the date of
    its clause.
    """

    max_sources: int = 5
    last: int = 0
    records: dict[str, Evidence] = field(default_factory=dict)
    asked: dict[str, frozenset[str]] = field(default_factory=dict)
    copies: NearDuplicates = field(default_factory=NearDuplicates)
    dates_clauses: bool = True
    _signatures: dict[str, Signature] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _by_aspect: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))
    _slots: dict[tuple[str | None, Slot], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, finding: Finding, round_number: int) -> tuple[Evidence, bool]:
        """Merge a finding; returns its record and whether it was new."""
        finding = self._credit_original(finding)
        if "dictated" in finding.uncertainty:
            return self._add_quotation(finding, round_number)
        signature = Signature.of(finding.claim)
        twin, rivals = self._compare_claim(signature, finding.source)
        if twin is not None:
            return self._corroborate_record(self.records[twin], finding), False
        rivals += self._rivals_in_slot(signature, finding, rivals)
        record = self._new_record(finding, round_number)
        ordered = tuple(sorted(rivals, key=lambda i: int(i[1:])))
        record = replace(record, contradicts=ordered, fields=entities.extract_fields(record.claim))
        self._add_record(record, signature)
        for rival in rivals:
            other = self.records[rival]
            self.records[rival] = replace(other, contradicts=(*other.contradicts, record.id))
        return self._settle(record), True

    def _new_record(self, finding: Finding, round_number: int) -> Evidence:
        return Evidence(
            id=f"E{self.last + 1}",
            claim=finding.claim,
            aspect_id=finding.aspect_id,
            round=round_number,
            sources=(finding.source, *finding.also),
            relevance=finding.relevance,
            uncertainty=finding.uncertainty,
            dates_clauses=self.dates_clauses,
        )

    def _add_quotation(self, finding: Finding, round_number: int) -> tuple[Evidence, bool]:
        """Add what may only be quoted: it neither supports nor contradicts another record."""
        place = (finding.source.url, finding.source.start, finding.source.end)
        for known in self.of(finding.aspect_id or ""):
            if known.is_dictated and place in {(s.url, s.start, s.end) for s in known.sources}:
                return known, False
        record = self._new_record(finding, round_number)
        self._enter(record)
        return self._settle(record), True

    def _enter(self, record: Evidence) -> None:
        self.last = max(self.last, int(record.id[1:]))
        self.records[record.id] = record
        self._by_aspect[record.aspect_id].append(record.id)

    def _credit_original(self, finding: Finding) -> Finding:
        """Return the finding under the key of the first page that its page copies."""
        source = finding.source
        key = self.copies.key(source.text_sha256, source.independence_key)
        if key == source.independence_key:
            return finding
        also = tuple(replace(each, independence_key=key) for each in finding.also)
        return replace(finding, source=replace(source, independence_key=key), also=also)

    def take_over(self, record: Evidence) -> Evidence:
        """Enter a record of an earlier run under its own id."""
        record = replace(record, dates_clauses=self.dates_clauses)
        if record.is_dictated:
            self._enter(record)
        else:
            self._add_record(record, Signature.of(record.claim))
        for aspect_id in record.also_answers:
            self._list(aspect_id, record.id)
        return self._settle(record)

    def _add_record(self, record: Evidence, signature: Signature) -> None:
        self._enter(record)
        self._signatures[record.id] = signature
        for word in signature.words:
            self._holders[word].append(record.id)
        if filled := self._slot_for(signature, record.aspect_id):
            self._slots[record.aspect_id, filled].append(record.id)

    def _compare_claim(self, new: Signature, source: QuoteSource) -> tuple[str | None, list[str]]:
        """Return the agreeing record with most words in common, and those that are in conflict."""
        agreeing: dict[str, int] = {}
        rivals = []
        for other_id in self._find_alike(new.words):
            old = self._signatures[other_id]
            if claims_agree(new, old) and new.identifiers == old.identifiers:
                agreeing[other_id] = len(new.words & old.words)
            elif claims_conflict(new, old) and self._is_independent(other_id, source):
                rivals.append(other_id)
        return max(agreeing, key=agreeing.__getitem__, default=None), rivals

    def _find_alike(self, words: frozenset[str]) -> list[str]:
        """Return the records that are alike in words, in the order of ids.

        They share at least `SAME_CLAIM` of the n words, so each holds one of any n + 1 less
        that share: the rarest ones lead to all of them.
        """
        rarest = sorted(words, key=lambda word: len(self._holders.get(word, ())))
        enough = len(words) + 1 - int(SAME_CLAIM * len(words))
        near = {other for word in rarest[:enough] for other in self._holders.get(word, ())}
        alike = (o for o in near if jaccard(words, self._signatures[o].words) >= SAME_CLAIM)
        return sorted(alike, key=lambda record_id: int(record_id[1:]))

    def _rivals_in_slot(self, new: Signature, finding: Finding, known: Sequence[str]) -> list[str]:
        """Records, however worded, that answer the same with another amount."""
        filled = self._slot_for(new, finding.aspect_id)
        return [
            other
            for other in (self._slots.get((finding.aspect_id, filled), ()) if filled else ())
            if other not in known
            and fill_differently(new, self._signatures[other])
            and self._is_independent(other, finding.source)
        ]

    def _slot_for(self, claim: Signature, aspect_id: str | None) -> Slot | None:
        return find_slot(claim, self.asked.get(aspect_id or "", frozenset()))

    def _is_independent(self, record_id: str, source: QuoteSource) -> bool:
        return source.independence_key not in self.records[record_id].keys

    def _corroborate_record(self, record: Evidence, finding: Finding) -> Evidence:
        known = {(s.url, s.start) for s in record.sources}
        place = (finding.source.url, finding.source.start)
        pages = {s.url for s in record.sources}
        if place not in known and len(pages | {finding.source.url}) <= self.max_sources:
            record = replace(record, sources=(*record.sources, finding.source, *finding.also))
        record = replace(record, relevance=max(record.relevance, finding.relevance))
        return self._settle(self._answering_also(record, finding.aspect_id))

    def _answering_also(self, record: Evidence, aspect_id: str | None) -> Evidence:
        """Return the record, which answers a further sub-question."""
        if aspect_id is None or aspect_id in record.answers:
            return record
        self._list(aspect_id, record.id)
        return replace(record, also_answers=(*record.also_answers, aspect_id))

    def _list(self, aspect_id: str, record_id: str) -> None:
        insort(self._by_aspect[aspect_id], record_id, key=lambda each: int(each[1:]))

    def _settle(self, record: Evidence) -> Evidence:
        flags: list[Uncertainty] = [f for f in record.uncertainty if f != "single_source"]
        if len(record.keys) < 2:
            flags.append("single_source")
        settled = replace(
            record,
            uncertainty=tuple(flags),
            confidence=confidence_of(len(record.keys), flags),
        )
        self.records[record.id] = settled
        return settled

    def oppose(self, one: Evidence, other: Evidence) -> None:
        """Note that two records contradict each other."""
        for record_id, rival in ((one.id, other.id), (other.id, one.id)):
            record = self.records[record_id]
            known = dict.fromkeys((*record.contradicts, rival))
            self.records[record_id] = replace(record, contradicts=tuple(known))

    def reconcile(self, record_id: str) -> None:
        """Take back what a record contradicts: it says what was so before."""
        for rival in self.records[record_id].contradicts:
            self.settle_dispute(record_id, rival)

    def settle_dispute(self, one_id: str, other_id: str) -> None:
        """Note that two records don't contradict each other."""
        for record_id, rival in ((one_id, other_id), (other_id, one_id)):
            record = self.records[record_id]
            left = tuple(each for each in record.contradicts if each != rival)
            self.records[record_id] = replace(record, contradicts=left)

    def suspected_disputes(self, *, with_figures: bool = False) -> list[tuple[str, str]]:
        """Return the pairs of records whose words alone set them against each other, as "does not
        react" and "goes unnoticed", not those with the same words but for a negation; if wanted
        `with_figures` also those whose figures differ.
        """
        return [
            (one.id, rival)
            for one in self.records.values()
            for rival in one.contradicts
            if one.id < rival and self._may_agree(one.id, rival, with_figures)
        ]

    def _may_agree(self, one_id: str, other_id: str, with_figures: bool) -> bool:
        one, other = (Signature.of(self.records[each].claim) for each in (one_id, other_id))
        is_denied = _is_opposed(one, other) and word_overlap(one, other) >= DENIED_ALIKE
        return not is_denied and (with_figures or not figures_conflict(one.figures, other.figures))

    def of(self, aspect_id: str) -> list[Evidence]:
        return [self.records[record_id] for record_id in self._by_aspect.get(aspect_id, ())]


def confidence_of(keys: int, flags: Iterable[Uncertainty]) -> float:
    """Return 1 - 0.5ⁿ for n independent sources, less if the claim is uncertain."""
    uncertain = any(flag != "single_source" for flag in flags)
    return round((1 - 0.5**keys) * (UNCERTAIN if uncertain else 1.0), 4)


SAME_CLAIM = 0.6
OPPOSED_ALIKE, DENIED_ALIKE = 0.75, 0.9
SLOT_WORDS = 3
SLOT_SHARE = 0.5
SAID_SHARE = 0.5

_VERB_FORMS = frozenset(
    ("is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "to")
)
"""What follows one ("was first lit") tells how or when, not which."""

Slot = tuple[frozenset[str], str]
"""The words that a claim shares with its sub-question, and what its one amount measures."""


@dataclass(frozen=True)
class Signature:
    """What of a claim is compared; numbers within names ("FIPS 204") belong to the names."""

    claim: str
    words: frozenset[str]
    figures: Figures
    names: frozenset[str]
    negated: bool
    uncertain: bool
    direction: int

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return identifiers_in(self.claim)

    @classmethod
    def of(cls, claim: str) -> Signature:
        named = entities.extract_fields(claim).names
        bare = claim
        for name in named:
            bare = bare.replace(name, " ")
        counted = parse_figures(bare)
        return cls(
            claim,
            term_set(claim) - frozenset(entities.find_numbers(bare)),
            counted,
            term_set(" ".join(named)),
            entities.is_negated(claim),
            entities.is_uncertain(claim),
            entities.change_direction(claim),
        )


def word_overlap(one: Signature, other: Signature) -> float:
    """Return how much of their words two claims share, 0-1; numbers aside."""
    return jaccard(one.words, other.words)


def claims_agree(one: Signature, other: Signature) -> bool:
    """Return whether two similarly worded claims have the same meaning."""
    if not same_figures(one.figures, other.figures) or _is_opposed(one, other):
        return False
    if one.names - other.words and other.names - one.words:
        return False
    return one.uncertain == other.uncertain and not claim_check.is_contrary(one.claim, other.claim)


def claims_conflict(one: Signature, other: Signature) -> bool:
    """Return whether two claims that are alike in words exclude each other; of the same
    names only.
    """
    if one.names != other.names or _on_two_things(one, other):
        return False
    if _is_opposed(one, other):
        return (
            one.figures.values == other.figures.values and word_overlap(one, other) >= OPPOSED_ALIKE
        )
    return figures_conflict(one.figures, other.figures)


def _is_opposed(one: Signature, other: Signature) -> bool:
    return one.negated != other.negated or one.direction * other.direction < 0


def find_slot(claim: Signature, asked: frozenset[str]) -> Slot | None:
    """Return the slot of a sub-question of these terms that a claim with one measured amount fills.

    Names alone are none, unless the claim says little else: two prices of one company need not
    be prices of the same thing.
    """
    amounts = claim.figures.amounts
    if len(amounts) != 1 or not amounts[0].measures or claim.negated:
        return None
    words = claim.words & asked
    filled = len(words) >= max(SLOT_WORDS, SLOT_SHARE * len(asked))
    if not words - claim.names and len(words) < SAID_SHARE * len(claim.words):
        return None
    return (words, amounts[0].measures) if filled else None


def fill_differently(one: Signature, other: Signature) -> bool:
    """Return whether two claims state different amounts for the same slot."""
    apart = claim_check.is_contrary(one.claim, other.claim) or one.uncertain != other.uncertain
    return not (apart or _on_two_things(one, other)) and figures_conflict(
        one.figures, other.figures
    )


def _on_two_things(one: Signature, other: Signature) -> bool:
    """Return whether each claim has a different word before the same noun."""
    mine, theirs = _set_apart(one), _set_apart(other)
    return any(
        mine[noun] - other.words and theirs[noun] - one.words for noun in mine.keys() & theirs
    )


def _set_apart(claim: Signature) -> dict[str, set[str]]:
    """Return each word of a claim with the words before it that may qualify it."""
    found: dict[str, set[str]] = defaultdict(set)
    words = [word.lower() for word in split_tokens(claim.claim)]
    for before, word, noun in zip(["", *words], words, words[1:], strict=False):
        if before not in _VERB_FORMS and noun not in STOP_WORDS and _may_tell_which(word):
            found[stem(noun)] |= term_set(word)
    return found


def _may_tell_which(word: str) -> bool:
    """No number, and no "rose" or "fell" before "sharply"."""
    return (
        word.isalpha() and not entities.find_numbers(word) and not entities.change_direction(word)
    )
