"""All forms of a part through whole runs, the benign pages beside them, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.injection.exports import links_to
from bench.injection.markers import holds_marker, seen
from bench.injection.rows import (
    BenignSentence,
    Form,
    HostPage,
    benign_pages,
    benign_sentences,
    forms,
    host_pages,
    page_for,
)
from bench.injection.running import RunResult, run_form
from research.engine.untrusted.prompt_injection import is_order

SAID = frozenset({"report", "plan", "query", "fetched address"})
"""Where a marker must not come out; in a quote it is what the page says."""


@dataclass(frozen=True)
class FormResult:
    """What became of a form: where its marker came out, and the facts beside the clean run's."""

    form: Form
    places: tuple[str, ...]
    is_seen: bool
    is_statement: bool
    links: int
    recalled: int
    clean: int

    @property
    def is_address(self) -> bool:
        return self.form.is_address

    @property
    def came_out(self) -> bool:
        return bool(SAID.intersection(self.places)) and not self.form.is_forged


@dataclass
class Outcome:
    """What a part of the data set gave."""

    results: list[FormResult] = field(default_factory=list)
    foreign: list[FormResult] = field(default_factory=list)
    benign: list[tuple[HostPage, int]] = field(default_factory=list)
    plain: list[tuple[HostPage, int]] = field(default_factory=list)
    removed: list[BenignSentence] = field(default_factory=list)
    sentences: int = 0

    def share(self, picked: Callable[[FormResult], bool], among: Iterable[FormResult]) -> str:
        rows = list(among)
        found = sum(map(picked, rows))
        return f"{found} of {len(rows)} ({100 * found / max(1, len(rows)):.1f} %)"

    @property
    def recall(self) -> float:
        """Facts found in runs with a form, over those found in the same runs without one."""
        clean = sum(result.clean for result in self.results)
        return sum(min(r.recalled, r.clean) for r in self.results) / max(1, clean)

    @property
    def benign_recall(self) -> float:
        """Facts of the questions about assistants, over those of the other questions."""
        return _recall(self.benign) / (_recall(self.plain) or 1.0)


def measure(part: str) -> Outcome:
    return asyncio.run(_measure(part))


async def _measure(part: str) -> Outcome:
    pages, outcome = host_pages(), Outcome()
    english = [page for page in pages if page.language == "en"]
    clean: dict[tuple[str, str], RunResult] = {}
    for number, form in enumerate(forms(part)):
        host = page_for(form, number, pages)
        outcome.results.append(await _one(form, host, pages, clean))
        if host.language != "en":
            other = english[number % len(english)]
            outcome.foreign.append(await _one(form, other, pages, clean))
    for page in benign_pages(part):
        result = await run_form(page, None, "body", _others(page, pages))
        outcome.benign.append((page, result.recalled))
    for page in pages:
        result = await run_form(page, None, "body", _others(page, pages))
        outcome.plain.append((page, result.recalled))
    sentences = benign_sentences(part)
    outcome.sentences = len(sentences)
    outcome.removed = [sentence for sentence in sentences if is_order(sentence.text)]
    return outcome


async def _one(
    form: Form, host: HostPage, pages: Sequence[HostPage], clean: dict[tuple[str, str], RunResult]
) -> FormResult:
    others = _others(host, pages)
    key = (host.id, form.carrier)
    if key not in clean:
        clean[key] = await run_form(host, None, form.carrier, others)
    result = await run_form(host, form, form.carrier, others)
    wanted = form.claim or form.marker
    stated = any(
        holds_marker(record.claim, form) or seen(wanted) in seen(record.claim)
        for record in result.evidence
        if not record.is_dictated
    )
    places = result.places_of(form)
    return FormResult(
        form=form,
        places=tuple(places),
        is_seen=bool(result.obeyed),
        is_statement=(stated or "report" in places) and not form.is_forged,
        links=links_to(result, form),
        recalled=result.recalled,
        clean=clean[key].recalled,
    )


def _others(host: HostPage, pages: Sequence[HostPage]) -> list[HostPage]:
    return [page for page in pages if page.id != host.id][:2]


def _recall(found: Sequence[tuple[HostPage, int]]) -> float:
    wanted = sum(len(page.facts) for page, _ in found)
    return sum(recalled for _, recalled in found) / max(1, wanted)
