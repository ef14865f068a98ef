"""The engine suite's section of the page: bars, tables and charts."""

from __future__ import annotations

from collections.abc import Sequence

from bench import page
from bench.bars import ENGINE, bars_table
from bench.comparison import hostile
from bench.comparison.charts import Mark, bars, scatter
from bench.comparison.depths import Measured
from bench.comparison.overhead import TIMED, Timed
from bench.comparison.statistics import Estimate, mean, percentile
from bench.comparison.strategies import (
    FIXED,
    Row,
    against,
    against_forced,
    calls,
    recall,
    row,
    stop_shares,
    strategies,
    tokens,
)
from bench.suites.engine import Results, values
from bench.world.facts import KINDS

DRAWN = {"adaptive": 0, FIXED: 2, "question's words covered": 3, "hindsight": 4,
         "random, same mean": 5}  # fmt: skip
REFERENCE = (
    ("gpt-researcher 0.16, deep", "43 / 6.8 / 1.0", "43 / 4.0 / 1.0", "43 / 2.2 / .57"),
    ("open_deep_research", "14 / 2.6 / 1.0", "39 / 1.9 / 1.0", "77 / 2.4 / 1.0"),
    ("local-deep-research 1.10, agent", "7 / 2.2 / 1.0", "27 / 1.8 / 1.0", "47 / 2.0 / .68"),
    ("local-deep-research, focused", "9 / 1.7 / .75", "9 / 1.4 / .75", "9 / .8 / .39"),
    ("a bare loop of 60 lines, no checks", "3 / 1.4 / 1.0", "3 / 1.3 / 1.0", "6 / 1.1 / 1.0"),
)


def section(results: Results, machine: str) -> str:
    """Render `engine.md`, and draw the charts next to the page."""
    _draw(results)
    return page.rendered(
        "engine.md",
        machine=machine,
        count=len(results.of_kind("simple")),
        timed=len(results.timed),
        bars=page.table(("figure", "bar", "measured", ""), bars_table(ENGINE, values(results))),
        kinds=[_kind(results, kind) for kind in KINDS],
        ratios=_ratios(results),
        stopping=_stopping(results),
        unanswerable=_unanswerable(results),
        time=_time(results.timed),
        others=_others(results),
        harm=_harm(results),
    )


def _kind(results: Results, kind: str) -> str:
    measured = results.of_kind(kind)
    rows = [
        _cells(row(s.name, [s.pick(m) for m in measured])) for s in strategies(results.measured)
    ]
    head = (kind, "rounds", "calls", "tokens", "searches", "pages", "dollars",
            "recall: ledger", "report", "citation precision")  # fmt: skip
    return page.table(head, rows)


def _cells(figures: Row) -> list[str]:
    return [
        figures.name,
        f"{figures.rounds:.2f}",
        f"{figures.calls:.1f}",
        f"{figures.tokens:,.0f}",
        f"{figures.searches:.1f}",
        f"{figures.fetches:.1f}",
        f"{figures.usd:.4f}",
        *(_number(s) for s in
          (figures.evidence_recall, figures.report_recall, figures.citation_precision)),
    ]  # fmt: skip


def _ratios(results: Results) -> str:
    ways = [s for s in strategies(results.measured) if s.name in DRAWN and s.name != "adaptive"]
    rows = []
    for name, measured in _groups(results):
        rows.append([f"{name}: a forced depth", _estimate(against_forced(measured, calls)),
                     _estimate(against_forced(measured, tokens))])  # fmt: skip
        rows += [
            [f"{name}: {way.name}", _estimate(against(measured, way, calls)),
             _estimate(against(measured, way, tokens))]
            for way in ways
        ]  # fmt: skip
    return page.table(("adaptive ÷", "model calls", "tokens"), rows)


def _groups(results: Results) -> list[tuple[str, Sequence[Measured]]]:
    named = [(kind, results.of_kind(kind)) for kind in TIMED]
    return [*named, ("all four kinds", results.measured)]


def _stopping(results: Results) -> str:
    rows = []
    for name, measured in [*_groups(results)[:-1], ("all three", results.answerable)]:
        for way in strategies(results.measured):
            if way.name == "adaptive" or name == "all three":
                found = stop_shares(measured, way.pick)
                shares = (f"{found[k]:.3f}" for k in ("exact", "premature", "late"))
                rows.append([f"{name}: {way.name}", *shares])
    return page.table(("", "exact", "premature", "late"), rows)


def _unanswerable(results: Results) -> str:
    scores = [m.adaptive.score for m in results.of_kind("unanswerable")]
    ended = sum(score.reason == "nothing_found" for score in scores)
    rounds = mean(score.rounds for score in scores)
    return f"{ended} of {len(scores)} end with nothing_found, after {rounds:.2f} rounds"


def _time(timed: Sequence[Timed]) -> str:
    rows = []
    for kind in (*TIMED, "all"):
        chosen = [t for t in timed if kind in (t.kind, "all")]
        if chosen:
            rows.append([kind, *(_spread(values) for values in (
                [t.over_ideal for t in chosen],
                [t.bare.wall_seconds / t.bare.ideal_seconds for t in chosen],
                [t.over_bare for t in chosen],
                [t.tokens_over_bare for t in chosen],
                [t.over_busy for t in chosen],
                [t.run.cpu_seconds for t in chosen],
            )), f"{mean(recall(t.run) for t in chosen):.3f} / "
                f"{mean(t.bare.recall for t in chosen):.3f}"])  # fmt: skip
    head = ("p50 / p95", "wall ÷ ideal", "bare loop ÷ ideal", "wall ÷ bare loop",
            "tokens ÷ bare loop", "wall ÷ in flight", "CPU, s", "recall: ours / bare")  # fmt: skip
    return page.table(head, rows)


def _others(results: Results) -> str:
    def figures(kind: str) -> tuple[str, str]:
        timed = _timed(results, kind)
        ours = (percentile((calls(t.run) for t in timed), 0.5),
                percentile((t.over_ideal for t in timed), 0.5),
                percentile((recall(t.run) for t in timed), 0.5))  # fmt: skip
        bare = (percentile((t.bare.calls for t in timed), 0.5),
                percentile((t.bare.wall_seconds / t.bare.ideal_seconds for t in timed), 0.5),
                percentile((t.bare.recall for t in timed), 0.5))  # fmt: skip
        return tuple(f"{n:.0f} / {wall:.1f} / {found:.2f}" for n, wall, found in (ours, bare))  # type: ignore[return-value]

    here = [figures(kind) for kind in TIMED]
    rows = [
        ("Plumbline, measured here", *(ours for ours, _ in here)),
        ("the bare loop, measured here", *(bare for _, bare in here)),
        *REFERENCE,
    ]
    return page.table(("", *TIMED), rows)


def _harm(results: Results) -> str:
    honest = hostile.row("oracle", [m.adaptive for m in results.measured])
    rows = [
        [
            each.name,
            f"{each.ended:.2f}",
            str(each.most_rounds),
            str(each.most_calls),
            f"{_number(each.quote_precision)} of {each.quotes}",
            f"{_number(each.false_claims_reported)} of {each.false_claims}",
            str(each.orders_obeyed),
            _number(each.citation_precision),
            _number(each.recall),
        ]
        for each in (honest, *hostile.rows(results.tried))
    ]
    head = ("analyst", "completed", "rounds, most", "calls, most", "quote precision",
            "false claims that reach the report", "orders of pages in reports",
            "citations right", "recall")  # fmt: skip
    return page.table(head, rows)


def _draw(results: Results) -> None:
    panels = []
    for kind in TIMED:
        measured, marks = results.of_kind(kind), []
        for way in strategies(results.measured):
            runs = [way.pick(m) for m in measured]
            joined = way.name.startswith("forced")
            if joined or way.name in DRAWN:
                label, style = ("forced to 1…5", 1) if joined else (way.name, DRAWN[way.name])
                marks.append(
                    Mark(label, mean(map(calls, runs)), mean(map(recall, runs)), style, joined)
                )
        panels.append((kind, marks))
    page.CHARTS.mkdir(exist_ok=True)
    drawn = scatter(panels, "model calls a question", "recall of the report")
    (page.CHARTS / "stopping.svg").write_text(drawn, "utf-8")
    rows = [
        (
            f"Plumbline, {kind}",
            percentile((t.over_bare for t in results.timed if t.kind == kind), 0.5),
        )
        for kind in TIMED
    ]
    (page.CHARTS / "overhead.svg").write_text(bars(rows, "wall ÷ the bare loop's, p50"), "utf-8")


def _timed(results: Results, kind: str) -> list[Timed]:
    return [t for t in results.timed if t.kind == kind]


def _estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _spread(values: Sequence[float]) -> str:
    return f"{percentile(values, 0.5):.2f} / {percentile(values, 0.95):.2f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
