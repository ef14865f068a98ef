"""The live part of a run's page: what each fragment shows, by the fragment's name.

Fragments go to every viewer alike, so nothing here knows who looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from dashboard.contexts import aspects, evidence, quality, rounds, spending
from dashboard.contexts import gaps as missing
from dashboard.contexts import run as parts
from dashboard.contexts.heard import heard
from dashboard.contexts.report import report
from dashboard.run_rows import RunRows

Context = dict[str, Any]


@dataclass(frozen=True)
class LiveParts:
    """`leaves`: name → what its template shows; `rows`: name of a list → one context a row."""

    leaves: dict[str, Context]
    rows: dict[str, list[Context]]


def live_parts(rows: RunRows) -> LiveParts:
    return LiveParts(leaves(rows), lists(rows))


def leaves(rows: RunRows) -> dict[str, Context]:
    run = parts.head(rows.run, rows.told)
    ended = run["ended"]
    sentence = parts.sentence(rows)
    return {
        "title": {"mark": run["mark"], "question": run["question"]},
        "icon": {"name": run["favicon"]},
        "sequence": {"sequence": rows.run.sequence, "ended": ended},
        "state": {"state": run["state"]},
        "verdict": {"sentence": sentence, "length": parts.length(sentence)},
        "line": {"parts": list(parts.verdict_line(rows.progress, ended=ended))},
        "action": {"live": run["live"], **parts.action(rows)},
        "heard": {"heard": heard(rows)},
        "failure": parts.failure(rows),
        "survived": {"count": len(parts.survived(rows))},
        "desk-key": {"key": parts.desk_key(rows.run, run)},
        "report": parts.outcome(rows, report(rows)),
        "aspects-none": {"ended": ended},
        "gaps-title": missing.gaps_title(rows.progress.gaps, ended=ended),
        "evidence-count": evidence.count(rows),
        "evidence-none": {"ended": ended},
        "evidence-more": evidence.more(rows),
        "refused-count": {"count": rows.refused_count},
        "chart": quality.chart(rows.progress),
        "news": rounds.news(rows),
        "rounds-none": {"ended": ended},
        "quality": quality.make_up(rows),
        "meters": {"meters": quality.meters(rows.progress)},
        "foot": {
            "foot": parts.foot(rows.run),
            "created": rows.run.created_at,
            "spending": spending.by_task(rows.run.usage),
            "estimated": rows.run.usage.get("tokens_estimated", False),
            "evaluation": spending.evaluation(rows.run.evaluation),
            "activity": reverse("activity", args=[rows.run.public_id]),
            "sources": reverse("sources", args=[rows.run.public_id]),
            "delete": reverse("delete_run", args=[rows.run.public_id]) if ended else "",
        },
    }


def lists(rows: RunRows) -> dict[str, list[Context]]:
    return {
        "problems": [{"id": row.key, "message": row.message} for row in parts.survived(rows)],
        "draft": parts.drafted(rows.progress.draft),
        "aspects": aspects.aspects(rows),
        "gaps": missing.gaps(rows),
        "evidence": [evidence.claim(row) for row in rows.newest],
        "refused": [evidence.refused(row) for row in rows.refused],
        "rounds": [rounds.column(row, rows) for row in rows.rounds],
    }
