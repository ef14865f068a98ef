"""Stores the notifications of a run's new status, to be delivered by `dispatcher`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from research.engine.records import Status
from research.models import Delivery, EmailChoice, Event, Occurrence, Webhook
from research.worker import notify

ENDS = {Status.COMPLETED: Event.FINISHED, Status.FAILED: Event.FAILED}
ASKING = (Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.STALLED)


def announce_status(run_id: int, status: str) -> None:
    """Store a delivery for each receiver of the event that a run's new status is, if any.

    Must be called in the transaction that sets the status, so that neither is stored alone.
    """
    events = [*_events(status)]
    if not events:
        return
    of_owner = {"owner__runs": run_id, "owner__is_active": True}
    hooks = [*Webhook.objects.filter(disabled_reason="", **of_owner)]
    mails = [*EmailChoice.objects.filter(confirmed=True, **of_owner)]
    if not hooks and not mails:
        return
    if Status(status) in ENDS and Occurrence.objects.filter(run_id=run_id).exists():
        events.append(Event.SCHEDULE)
    common = {"run_id": run_id, "run_status": status}
    Delivery.objects.bulk_create(
        [
            Delivery(owner_id=each.owner_id, webhook=each, event=event, **common)
            for each in hooks
            for event in events
            if event in each.events
        ]
        + [
            Delivery(owner_id=each.owner_id, event=event, **common)
            for each in mails
            for event in _mailed(events, each.events)
        ]
    )
    notify.wake_after_commit()


def _events(status: str) -> Iterator[Event]:
    if Status(status) in ENDS:
        yield ENDS[Status(status)]
    elif Status(status) in ASKING:
        yield Event.ASKS


def _mailed(events: Sequence[Event], wanted: Sequence[str]) -> list[Event]:
    """Return the events to mail: the last one, which says most, since they are about one thing."""
    return [event for event in events if event in wanted][-1:]
