"""The fixed mode: a tree of a fixed size, breadth first. Rules B1-B8 of `docs/requirements.md`.

Each level asks for queries with goals, each query is searched, fetched and extracted, and
its follow-up questions become the next level's, with half the breadth but never below two.
Breadth 4 and depth 2 make 5 query generations, 4 + 4 · 2 = 12 searches and 12 extractions.
Gates are evaluated and recorded, but do not act.
"""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.analyst import analyst_of
from research.engine.assessment.close_round import close_level
from research.engine.assessment.stop_rule import Stop
from research.engine.limits import tree_breadths
from research.engine.llm_tasks.tree import Query
from research.engine.records import StopReason
from research.engine.rounds.findings import Reading
from research.engine.rounds.research_round import begin_round, work_through
from research.engine.rounds.topics import Topic
from research.engine.rounds.units import Work
from research.engine.run import Run

PAGES_OF_A_QUERY = 4


async def research_tree(run: Run) -> Stop:
    """Search the whole tree, or as far as a command or a budget lets it."""
    parents = [run.question.text]
    for level, breadth in enumerate(tree_breadths(run.config), 1):
        run.report_action("Planning queries")
        work = begin_round(run, await _level_topics(run, level, parents, breadth))
        await work_through(run, work, _choose_each, _extract_reading)
        reason = await close_level(run, last=level == run.config.deep_research_depth)
        if reason is not None:
            return Stop(reason)
        parents = [_combine_goal(item) for item in work]
    return Stop(StopReason.TREE_COMPLETE)


async def _level_topics(run: Run, level: int, parents: Sequence[str], breadth: int) -> list[Topic]:
    """Return the queries of a level, parent by parent; all belong to the question itself."""
    aspect_id = next(iter(run.ledger.aspects))
    found: list[Query] = []
    taken = {query.casefold() for query in run.ledger.queries}
    for number, parent in enumerate(parents, 1):
        place = f"tree/{level}/{number}/queries"
        found += await analyst_of(run).generate_queries(place, parent, breadth, taken)
    return [Topic(query.goal, (query.query,), aspect_id) for query in found]


def _combine_goal(item: Work) -> str:
    """Return a node's goal and follow-up questions, from which its children's queries come."""
    return f"Previous goal: {item.topic.text}\nFollow-up questions: {' '.join(item.follow_ups)}"


def _choose_each(run: Run, work: Sequence[Work]) -> None:
    """Choose the best results of each query; the journal fetches a page only once."""
    most = run.config.max_pages_per_round
    per_unit = PAGES_OF_A_QUERY if most is None else max(1, most // max(1, len(work)))
    for item in work:
        item.urls += [hit.url for hit in item.hits][:per_unit]


async def _extract_reading(run: Run, item: Work) -> Reading:
    place = f"{item.place}/extract"
    reading, item.follow_ups = await analyst_of(run).extract_learnings(
        place, item.topic.text, item.pages
    )
    return reading
