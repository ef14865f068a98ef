"""The ledger's evidence: one record a claim, a quote of every page that says it.

Rules D5 and F1 of the requirement ledger. Independence is a key per source; confidence is
`1 - 0.5 ** n` over n keys, times `UNCERTAIN` where a flag is set. No model has a say in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from research.engine import features
from research.engine.records import Evidence, Quoted, Uncertainty
from research.engine.similarity import jaccard
from research.engine.text import term_set

SAME_CLAIM = 0.6
OPPOSED_ALIKE = 0.75
UNCERTAIN = 0.8
SERIOUS: frozenset[Uncertainty] = frozenset({"number_differs", "name_differs", "negation_differs"})


@dataclass(frozen=True)
class Finding:
    """A checked claim with its quote, on its way into the ledger.

    `also` are further quotes of the same page that belong to it, such as the term that the
    quote defines.
    """

    claim: str
    aspect_id: str | None
    source: Quoted
    relevance: float
    uncertainty: tuple[Uncertainty, ...] = ()
    also: tuple[Quoted, ...] = ()


@dataclass
class _Signature:
    """What of a claim is compared; numbers within names ("FIPS 204") belong to the names."""

    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool
    direction: int


@dataclass
class Book:
    """All evidence of a run in canonical order; finds twins and contradictions by words."""

    max_sources: int = 5
    records: dict[str, Evidence] = field(default_factory=dict)
    _signatures: dict[str, _Signature] = field(default_factory=dict)
    _holders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _keys: dict[str, str] = field(default_factory=dict)
    _by_aspect: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, finding: Finding, round_number: int) -> tuple[Evidence, bool]:
        """Merge a finding; returns its record and whether it was new."""
        finding = self._unmirrored(finding)
        signature = _sign(finding.claim)
        twin, rivals = self._compare(signature, finding.source)
        if twin is not None:
            return self._corroborate(self.records[twin], finding), False
        record = Evidence(
            id=f"E{len(self.records) + 1}",
            claim=finding.claim,
            aspect_id=finding.aspect_id,
            round=round_number,
            sources=(finding.source, *finding.also),
            relevance=finding.relevance,
            uncertainty=finding.uncertainty,
            contradicts=tuple(rivals),
            fields=features.fields(finding.claim),
        )
        self._enter(record, signature)
        for rival in rivals:
            other = self.records[rival]
            self.records[rival] = replace(other, contradicts=(*other.contradicts, record.id))
        return self._settle(record), True

    def _unmirrored(self, finding: Finding) -> Finding:
        """The finding under the key of the first page with the very same text."""
        source = finding.source
        key = self._keys.setdefault(source.text_sha256, source.independence_key)
        if key == source.independence_key:
            return finding
        also = tuple(replace(each, independence_key=key) for each in finding.also)
        return replace(finding, source=replace(source, independence_key=key), also=also)

    def _enter(self, record: Evidence, signature: _Signature) -> None:
        self.records[record.id] = record
        self._signatures[record.id] = signature
        self._by_aspect[record.aspect_id].append(record.id)
        for word in signature.words:
            self._holders[word].append(record.id)

    def _compare(self, new: _Signature, source: Quoted) -> tuple[str | None, list[str]]:
        """The agreeing record with most words in common, and those that are in conflict."""
        agreeing: dict[str, int] = {}
        rivals = []
        for other_id, alike in self._alike(new.words):
            old = self._signatures[other_id]
            if _agree(new, old):
                agreeing[other_id] = len(new.words & old.words)
            elif _conflict(new, old, alike) and self._independent(other_id, source):
                rivals.append(other_id)
        return max(agreeing, key=agreeing.__getitem__, default=None), rivals

    def _alike(self, words: frozenset[str]) -> list[tuple[str, float]]:
        """The records that are alike in words, in the order of ids, and how alike they are.

        They share at least `SAME_CLAIM` of the n words, so each holds one of any n + 1 less
        that share: the rarest ones lead to all of them.
        """
        rarest = sorted(words, key=lambda word: len(self._holders.get(word, ())))
        enough = len(words) + 1 - int(SAME_CLAIM * len(words))
        near = {other for word in rarest[:enough] for other in self._holders.get(word, ())}
        alike = ((other, jaccard(words, self._signatures[other].words)) for other in near)
        found = [(other, share) for other, share in alike if share >= SAME_CLAIM]
        return sorted(found, key=lambda pair: int(pair[0][1:]))

    def _independent(self, record_id: str, source: Quoted) -> bool:
        return source.independence_key not in self.records[record_id].keys

    def _corroborate(self, record: Evidence, finding: Finding) -> Evidence:
        known = {(s.url, s.start) for s in record.sources}
        place = (finding.source.url, finding.source.start)
        pages = {s.url for s in record.sources}
        if place not in known and len(pages | {finding.source.url}) <= self.max_sources:
            record = replace(record, sources=(*record.sources, finding.source, *finding.also))
        record = replace(record, relevance=max(record.relevance, finding.relevance))
        return self._settle(record)

    def _settle(self, record: Evidence) -> Evidence:
        flags: list[Uncertainty] = [f for f in record.uncertainty if f != "single_source"]
        if len(record.keys) < 2:
            flags.append("single_source")
        settled = replace(
            record,
            uncertainty=tuple(flags),
            confidence=confidence(len(record.keys), flags),
        )
        self.records[record.id] = settled
        return settled

    def of(self, aspect_id: str) -> list[Evidence]:
        return [self.records[record_id] for record_id in self._by_aspect.get(aspect_id, ())]


def confidence(keys: int, flags: Iterable[Uncertainty]) -> float:
    """1 - 0.5ⁿ over n independent sources, lowered where the claim is uncertain."""
    uncertain = any(flag != "single_source" for flag in flags)
    return round((1 - 0.5**keys) * (UNCERTAIN if uncertain else 1.0), 4)


def _sign(claim: str) -> _Signature:
    named = " ".join(features.fields(claim).names)
    numbers = frozenset(features.numbers(claim)) - frozenset(features.numbers(named))
    negated, direction = features.negated(claim), features.direction(claim)
    return _Signature(term_set(claim) - numbers, numbers, term_set(named), negated, direction)


def _agree(new: _Signature, old: _Signature) -> bool:
    """Alike in words, and no number, name, negation or direction sets them apart."""
    if new.numbers != old.numbers or _opposed(new, old):
        return False
    return not (new.names - old.words and old.names - new.words)


def _opposed(new: _Signature, old: _Signature) -> bool:
    return new.negated != old.negated or new.direction * old.direction < 0


def _conflict(new: _Signature, old: _Signature, alike: float) -> bool:
    """Alike in words and of the same things, but numbers exclude each other or one negates."""
    if new.names != old.names:
        return False
    if _opposed(new, old):
        return alike >= OPPOSED_ALIKE and new.numbers == old.numbers
    return bool(new.numbers and old.numbers and not new.numbers & old.numbers)
