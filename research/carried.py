"""What reviewers said of evidence that a later run of the thread took over unchanged."""

from __future__ import annotations

from research.models import Evidence, Report, Run, Verdict
from research.staleness import basis, evidence_digest

NOTE = "Said of an earlier version."


def carry_verdicts(run_id: int) -> None:
    """Repeat the last word on each record that stands as it stood, with the same quotes.

    For the end of a run, in its transaction: its report was written on these words, so they
    don't make it stale. The number of queries does not grow with the run.
    """
    run = Run.objects.select_related("parent").get(pk=run_id)
    if run.parent is None:
        return
    said = Verdict.objects.filter(evidence__run=run.parent).order_by("pk")
    last = {verdict.evidence_id: verdict for verdict in said}
    if not last:
        return
    labels = dict(Evidence.objects.filter(pk__in=last).values_list("label", "pk"))
    before = {(each.label, each.claim, each.quotes) for each in basis(run.parent)}
    now = {each.label for each in basis(run) if (each.label, each.claim, each.quotes) in before}
    unsaid = Evidence.objects.filter(run=run, label__in=now & labels.keys(), verdicts=None)
    Verdict.objects.bulk_create(_again(last[labels[row.label]], row) for row in unsaid)
    digest = evidence_digest(basis(run))
    Report.objects.filter(run=run).update(evidence_digest=digest)


def _again(verdict: Verdict, row: Evidence) -> Verdict:
    note = verdict.note if verdict.note.startswith(NOTE) else f"{NOTE} {verdict.note}".strip()
    return Verdict(evidence=row, actor_id=verdict.actor_id, verdict=verdict.verdict, note=note)
