"""Carries reviewers' verdicts over to unchanged evidence of a later run of the thread."""

from __future__ import annotations

from research.models import Evidence, Report, Run, Verdict
from research.threads.staleness import evidence_basis, evidence_digest

NOTE = "Said of an earlier version."


def carry_verdicts(run_id: int) -> None:
    """Copy the last verdict on each record that is unchanged, quotes included.

    Call it in the transaction that ends the run: its report was written with these verdicts, so
    they must not make it stale. The number of queries is constant.
    """
    run = Run.objects.select_related("parent").get(pk=run_id)
    if run.parent is None:
        return
    said = Verdict.objects.filter(evidence__run=run.parent).order_by("pk")
    last = {verdict.evidence_id: verdict for verdict in said}
    if not last:
        return
    labels = dict(Evidence.objects.filter(pk__in=last).values_list("label", "pk"))
    before = {(each.label, each.claim, each.quotes) for each in evidence_basis(run.parent)}
    now = {
        each.label
        for each in evidence_basis(run)
        if (each.label, each.claim, each.quotes) in before
    }
    unsaid = Evidence.objects.filter(run=run, label__in=now & labels.keys(), verdicts=None)
    Verdict.objects.bulk_create(_again(last[labels[row.label]], row) for row in unsaid)
    digest = evidence_digest(evidence_basis(run))
    Report.objects.filter(run=run).update(evidence_digest=digest)


def _again(verdict: Verdict, row: Evidence) -> Verdict:
    note = verdict.note if verdict.note.startswith(NOTE) else f"{NOTE} {verdict.note}".strip()
    return Verdict(evidence=row, actor_id=verdict.actor_id, verdict=verdict.verdict, note=note)
