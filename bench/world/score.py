"""Quality and cost of a run, judged with the world's knowledge of its facts.

The run is the object of `manage.py research --json`; costs come from the log of the world's servers
over that run alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal
from urllib.parse import urlsplit

from bench.world.facts import Fact, Page, Question, World

Resource = Mapping[str, Any]
Stopping = Literal["exact", "premature", "late"]
Carried = Literal["right", "in vain", "wrong"]
Quotes = Sequence[tuple[str, str]]
"""URL of the page, and quote."""

ROBOTS = "/robots.txt"
LEAD = re.compile(r"\*\*(?:Short answer|Best passage)\.\*\*")
_CITED = re.compile(r"([^\[\]]*)((?:\[\d+\])+)")  # "It fell.[1][2]"
_DENIED = re.compile(r"\bnot\b", re.IGNORECASE)


@dataclass(frozen=True)
class Cost:
    """Requests to the servers. `busy_seconds` is the time with any request in flight.

    A robots.txt request takes time but does not count as a fetch.
    """

    calls: dict[str, int]
    prompt_tokens: int
    completion_tokens: int
    searches: int
    fetches: int
    repeated_searches: int
    repeated_fetches: int
    busy_seconds: float

    @property
    def model_calls(self) -> int:
        return sum(self.calls.values())


@dataclass(frozen=True)
class Score:
    """Shares are 0-1; a share of nothing is None.

    `complete_round` is the first round whose evidence contains every needed fact and meets the
    evidence gate's minima; `cited_in_vain` counts sentences that repeat their quotes word for word
    and state no planted fact.
    """

    question: str
    kind: str
    reason: str | None
    rounds: int
    evidence_recall: float | None
    report_recall: float | None
    citation_precision: float | None
    claim_precision: float | None
    cited_sentences: int
    cited_in_vain: int
    recall_by_round: tuple[float, ...]
    complete_round: int | None
    contradiction_precision: float | None
    contradiction_recall: float | None
    false_claims_returned: int
    false_claims_reported: int
    injected_reported: int
    cost: Cost


def score(world: World, question: Question, run: Resource, log: Mapping[str, Any]) -> Score:
    """Return all scores of one run."""
    quoted = [(e, s) for e in run["evidence"] for s in e["sources"]]
    body = report_body(run["report_markdown"])
    cited = [_carried(world, *citation) for citation in _citations(run, body)]
    returned = [c for e in log["entries"] for c in e.get("false_claims", ())]
    precision, recall = _contradictions(world, question, run)
    by_round = recall_by_round(world, question, run)
    return Score(
        question=question.id,
        kind=question.kind,
        reason=run["termination_reason"],
        rounds=len(run["rounds"]),
        evidence_recall=_recall(world, question, (s["quote"] for _, s in quoted)),
        report_recall=_recall(world, question, [body]),
        citation_precision=_share(cited.count("right"), len(cited)),
        claim_precision=_claim_precision(world, run),
        cited_sentences=len(cited),
        cited_in_vain=cited.count("in vain"),
        recall_by_round=by_round,
        complete_round=complete_round(by_round, run),
        contradiction_precision=precision,
        contradiction_recall=recall,
        false_claims_returned=len(returned),
        false_claims_reported=sum(claim.rstrip(".") in body for claim in returned),
        injected_reported=sum(bool(p.injected) and p.injected in body for p in world.pages),
        cost=cost(log["entries"]),
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


_DOUBT = re.compile(r" \(⚠[^)]*\)")


def report_body(markdown: str) -> str:
    """Return the report without its title, lists of sources and marks of doubt."""
    body = markdown.partition("\n## Sources\n")[0].partition("\n")[2]
    return _DOUBT.sub("", body)


# --- facts found ----------------------------------------------------------------------------


def _recall(world: World, question: Question, texts: Iterable[str]) -> float | None:
    whole = "\n".join(texts)
    found = sum(world.facts[fact].code in whole for fact in question.needed)
    return _share(found, len(question.needed))


def recall_by_round(world: World, question: Question, run: Resource) -> tuple[float, ...]:
    """Return the share of needed facts in quotes of pages fetched up to the end of each round."""
    return tuple(_recall(world, question, quotes) or 0.0 for quotes in quotes_by_round(run))


def quotes_by_round(run: Resource) -> list[list[str]]:
    """Return the quotes of pages fetched up to the end of each round."""
    quotes = [(_time(s["fetched_at"]), s["quote"]) for e in run["evidence"] for s in e["sources"]]
    return [[quote for at, quote in quotes if at <= end] for end in _round_ends(run)]


def _round_ends(run: Resource) -> list[datetime]:
    """Return the times at which the gates were evaluated after each round."""
    ends = {gate["round"]: _time(gate["at"]) for gate in run["gates"] if gate["gate"] == "evidence"}
    return [ends[number] for number in sorted(ends)]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def complete_round(by_round: Sequence[float], run: Resource) -> int | None:
    """Return the hindsight round: all needed facts are present and the evidence gate passes."""
    asks = {
        g["round"] for g in run["gates"] if g["gate"] == "evidence" and g["decision"] == "retry"
    }
    complete = (n for n, share in enumerate(by_round, 1) if share >= 1 and n not in asks)
    return next(complete, None)


def stopping(stopped: int, hindsight: int | None, recall: float | None, best: float) -> Stopping:
    """Judge a stop against the hindsight round of a run that continued to the end.

    Premature: the longer run found more (`best` is its recall). Late: the hindsight round was
    earlier. If even the longer run never found everything, stopping with as much is exact.
    """
    if recall is not None and recall < best - 1e-9:
        return "premature"
    if hindsight is not None and stopped != hindsight:
        return "late" if stopped > hindsight else "premature"
    return "exact"


# --- the report -----------------------------------------------------------------------------


def _citations(run: Resource, body: str) -> list[tuple[str, Quotes]]:
    """Return each cited sentence with the quotes behind its markers."""
    evidence = {record["id"]: record for record in run["evidence"]}
    cited = {c["marker"]: c for c in run["citations"]}
    seen: Counter[int] = Counter()
    found: list[tuple[str, Quotes]] = []
    for text, marks in _CITED.findall(body):
        quotes = []
        for mark in map(int, re.findall(r"\d+", marks)):
            citation, place = cited[mark], seen[mark]
            seen[mark] += 1
            places = citation.get("places") or ()
            ids = places[place] if place < len(places) else citation["evidence_ids"]
            quotes += [
                (source["url"], source["quote"])
                for record in ids
                for source in evidence[record]["sources"]
                if source["url"] == citation["url"]
            ]
        found.append((_last_sentence(text), quotes))
    return found


def _last_sentence(text: str) -> str:
    """Return the text before a marker: the part of the paragraph since the previous marker."""
    last = text.rpartition("\n")[2].strip() or text.strip()
    return LEAD.sub("", last, count=1).strip()


def _carried(world: World, sentence: str, quotes: Quotes) -> Carried:
    """Return whether the sentence states planted facts, all of them supported by its quotes."""
    stated = [fact for fact in world.facts_named_in(sentence) if _states(sentence, fact)]
    numbers = set(re.findall(r"\d{7}", sentence)) - {fact.code for fact in stated}
    passage = re.search("“(.+)”", sentence)
    words = passage.group(1) if passage else sentence
    if not stated and any(words in " ".join(quote.split()) for _, quote in quotes):
        return "in vain"
    if not stated or numbers or _DENIED.search(sentence):
        return "wrong"
    return "right" if all(_holds(world, fact, quotes) for fact in stated) else "wrong"


def _claim_precision(world: World, run: Resource) -> float | None:
    """Return the share of claims that state nothing beyond their quotes."""
    carried = [
        _carried(world, record["claim"], [(s["url"], s["quote"]) for s in record["sources"]])
        for record in run["evidence"]
    ]
    return _share(len(carried) - carried.count("wrong"), len(carried))


def _states(sentence: str, fact: Fact) -> bool:
    """Return whether a sentence contains all of a fact: names, number and unit."""
    s = fact.statement
    parts = (s.subject, s.attribute, s.value, s.other, s.entry)
    return all(part in sentence for part in parts)


def _holds(world: World, fact: Fact, quotes: Quotes) -> bool:
    """Return whether a quote of a page that states the fact contains its code."""
    return any(
        fact.code in quote and (page := _page(world, url)) is not None and fact.id in page.facts
        for url, quote in quotes
    )


def _page(world: World, url: str) -> Page | None:
    parts = urlsplit(url)
    place = (int((parts.hostname or "0").rpartition(".")[2]), parts.path)
    return world.by_place.get(place)


def _contradictions(
    world: World, question: Question, run: Resource
) -> tuple[float | None, float | None]:
    """Return precision and recall of the contradictions that the run reports.

    A planted pair counts if both facts are in the evidence.
    """
    codes = {record["id"]: _codes(world, record) for record in run["evidence"]}
    planted = {frozenset(world.facts[fact].code for fact in pair) for pair in question.rivals}
    called = {
        frozenset((record["id"], other))
        for record in run["evidence"]
        for other in record["contradicts"]
    }
    found = {frozenset().union(*(codes.get(i, frozenset()) for i in pair)) for pair in called}
    held = frozenset().union(*codes.values()) if codes else frozenset()
    had = {pair for pair in planted if pair <= held}
    hits = [pair for pair in found if any(p <= pair for p in planted)]
    caught = [pair for pair in had if any(pair <= f for f in found)]
    return _share(len(hits), len(found)), _share(len(caught), len(had))


def _codes(world: World, record: Mapping[str, Any]) -> frozenset[str]:
    text = " ".join(source["quote"] for source in record["sources"])
    return frozenset(fact.code for fact in world.facts_named_in(text))


# --- cost -----------------------------------------------------------------------------------


def cost(entries: Sequence[Mapping[str, Any]]) -> Cost:
    """Return calls, tokens and requests of an interval of the servers' log."""
    of = {name: [e for e in entries if e["server"] == name] for name in ("model", "search", "web")}
    queries = Counter(" ".join(e["query"].lower().split()) for e in of["search"])
    urls = Counter(e["url"] for e in of["web"] if not e["url"].endswith(ROBOTS))
    return Cost(
        calls=dict(Counter(e["task"] for e in of["model"])),
        prompt_tokens=sum(e["prompt_tokens"] for e in of["model"]),
        completion_tokens=sum(e["completion_tokens"] for e in of["model"]),
        searches=len(of["search"]),
        fetches=urls.total(),
        repeated_searches=queries.total() - len(queries),
        repeated_fetches=urls.total() - len(urls),
        busy_seconds=busy_seconds([(e["start"], e["end"]) for e in entries]),
    )


def busy_seconds(intervals: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of the intervals."""
    ordered = sorted(intervals)
    ends = [0.0]
    for _, end in ordered:
        ends.append(max(ends[-1], end))
    spans = zip(ordered, pairwise(ends), strict=True)
    return sum(max(0.0, new - max(start, old)) for (start, _), (old, new) in spans)
