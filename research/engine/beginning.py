"""How a run begins: with a question of its own, or where an earlier run of its thread ended."""

from __future__ import annotations

from dataclasses import replace

from research.engine.extractive.planning import query_of
from research.engine.intake import agree, take_in
from research.engine.records import Status
from research.engine.run import Run
from research.engine.seed import Seed
from research.engine.similarity import twin
from research.engine.taking_over import reopen, take_over, take_over_for
from research.engine.tasks.follow_up import Before, follow_up
from research.engine.topics import DEEPER, Topic, first_topics

NEW_TOPIC = "new_topic"
SAME_TOPIC = "same_topic"
SHIFT = "This looks like another topic than “{question}”. Start anew, or keep what was found?"
MORE_ROUNDS = 2
CLAIMS = 3


async def begin_run(run: Run) -> None:
    """The agreed plan, a ledger for it, and the first round's topics. Raises `Parked`."""
    seed = run.question.seed
    if seed is not None and seed.kind == "deeper":
        await _dig_deeper(run, seed)
    elif seed is not None and await _is_same_topic(run, seed):
        await take_over_for(run, seed, await agree(run, await take_in(run)))
        run.candidates = first_topics(run.ledger)
    else:
        run.start(await agree(run, await take_in(run)))


# --- a follow-up question -------------------------------------------------------------------


async def _is_same_topic(run: Run, seed: Seed) -> bool:
    """Whether what was found may be kept; the question is worded anew then.

    A topic that shifts is asked about: nothing is dropped, and nothing kept, unasked.
    """
    run.change(status=Status.INTAKE)
    run.doing("Reading the question")
    before = Before(seed.question, _summary(seed))
    turn = await follow_up(run, "follow_up", before, run.question.text)
    same = turn.same_topic
    if not same:
        run.change(status=Status.AWAITING_CLARIFICATION, asks=SHIFT.format(question=seed.question))
        said = await run.journal.person("topic", frozenset({NEW_TOPIC, SAME_TOPIC}))
        same = said["kind"] == SAME_TOPIC
        run.change(status=Status.INTAKE, asks="")
    run.question = replace(run.question, text=turn.question)
    run.change(understood_as=turn.question)
    return same


def _summary(seed: Seed) -> str:
    """What was understood and found, most telling first."""
    key = [record.claim for record in seed.evidence if record.key]
    return " ".join((seed.plan.brief, *(aspect.text for aspect in seed.aspects), *key))


# --- deeper on open gaps --------------------------------------------------------------------


async def _dig_deeper(run: Run, seed: Seed) -> None:
    """The same plan and ledger; the first round looks for the chosen sub-questions alone."""
    run.change(status=Status.INTAKE)
    run.journal.emit(seed.plan)
    await take_over(run, seed)
    run.tried = set(run.ledger.pages)
    wanted = [aspect_id for aspect_id in seed.wanted if aspect_id in run.ledger.aspects]
    for aspect_id in wanted:
        reopen(run, aspect_id)
    run.candidates = [_topic(run, aspect_id) for aspect_id in wanted]
    run.wished = MORE_ROUNDS


def _topic(run: Run, aspect_id: str) -> Topic:
    """New ways to search first. The earlier ones may be gone again: their results were never
    read to the end, and pages that were read are not chosen twice.
    """
    ledger = run.ledger
    aspect = ledger.aspects[aspect_id]
    claims = [query_of(record.claim) for record in ledger.supporting(aspect_id)[:CLAIMS]]
    gaps = [gap.query for gap in ledger.open_gaps() if gap.aspect_id == aspect_id]
    ways = dict.fromkeys(
        filter(
            None, (*gaps, query_of(aspect.text), f"{aspect.query} details", *claims, aspect.query)
        )
    )
    threshold = run.config.duplicate_topic_similarity_threshold
    known = {way for way in ways if twin(way, ledger.queries, threshold)}
    for way in known:
        while double := twin(way, ledger.queries, threshold):
            del ledger.queries[double.twin]
    new_first = tuple(sorted(ways, key=lambda way: way in known))
    return Topic(aspect.text, new_first, aspect_id, reason=DEEPER)
