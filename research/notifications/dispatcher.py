"""Delivers stored notifications, at least once each.

A delivery is leased like a run: if its process dies, another one sends it again with the same id
once the lease has expired. Failed attempts are repeated with exponential back-off; a webhook to
which every attempt fails is disabled. One delivery at a time goes to each receiver, so that one
that hangs delays no other.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import F, Q, QuerySet

from research.models import Delivery, EmailChoice, Event, Webhook
from research.notifications.channels import Channels, Outcome
from research.notifications.composing import compose_body
from research.worker.background import Wakeable
from research.worker.leases import database_now, new_owner

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
LEASE = timedelta(seconds=60)
AT_ONCE = 8
LOOKED_AT = 200
"""Due deliveries among which one for each receiver is chosen."""

MOST_TRIES = 9
FIRST_WAIT_SECONDS = 10.0
FACTOR = 4.0
LONGEST_WAIT_SECONDS = 12 * 3_600.0
JITTER = 0.2
KEPT = timedelta(days=30)
PURGE_SECONDS = 3_600.0
LOGGED_ATTEMPTS = 50

BROKEN = "Plumbline could not write or send it; the server's log says more"
GONE = "The receiver answered with status 410 (gone)."
PERSISTENT = "{tries} attempts failed since {since:%-d %B %Y, %H:%M} UTC; the last one: {error}."

Clock = Callable[[], datetime]
Receiver = tuple[str, int]


@dataclass(frozen=True)
class Claimed:
    """A leased delivery; `choice` has the address of one that is mailed."""

    delivery: Delivery
    choice: EmailChoice | None

    @property
    def receiver(self) -> Receiver:
        return _receiver(self.delivery.webhook_id, self.delivery.owner_id)


class Dispatcher(Wakeable):
    """Sends what is due, several deliveries at once."""

    subject = "deliveries"

    def __init__(
        self,
        channels: Channels | None = None,
        *,
        look_seconds: float = LOOK_SECONDS,
        clock: Clock = database_now,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(look_seconds)
        self.channels = channels or Channels()
        self.clock = clock
        self.chance = chance
        self.owner = new_owner()
        self._sending: dict[asyncio.Task[None], Claimed] = {}
        self._purge_at = 0.0

    async def release(self) -> None:
        """Give back what is being sent: it will be sent again."""
        await super().release()
        sending = dict(self._sending)
        for task in sending:
            task.cancel()
        if sending:
            await asyncio.wait(sending)
        for claimed in sending.values():
            await self.writer.call(give_back, claimed.delivery)
        await self.channels.aclose()

    async def look(self) -> None:
        await self.step()
        await self._purge()

    async def step(self) -> int:
        """Begin to send what is due, within the free places; return how many."""
        free = AT_ONCE - len(self._sending)
        if free <= 0:
            return 0
        busy = frozenset(each.receiver for each in self._sending.values())
        claimed = await self.writer.call(claim_due, self.owner, self.clock, free, busy)
        for each in claimed:
            task = asyncio.create_task(self._deliver(each), name=f"delivery {each.delivery.pk}")
            self._sending[task] = each
            task.add_done_callback(self._ended)
        return len(claimed)

    async def settle(self) -> None:
        """Wait until everything that is being sent has succeeded or failed."""
        while self._sending:
            await asyncio.wait(self._sending)

    async def _purge(self) -> None:
        """Delete old entries of the log, once an hour."""
        now = asyncio.get_running_loop().time()
        if now >= self._purge_at:
            self._purge_at = now + PURGE_SECONDS
            await self.writer.call(purge_log, self.clock)

    async def _deliver(self, claimed: Claimed) -> None:
        delivery = claimed.delivery
        try:
            outcome = await self._attempt(claimed)
            waits = wait_seconds(delivery.tries + 1, self.chance(), outcome.retry_after)
            await self.writer.call(record_attempt, delivery, outcome, self.clock, waits)
        except DatabaseError:
            log.warning("delivery %s: its result is lost", delivery.public_id, exc_info=True)

    async def _attempt(self, claimed: Claimed) -> Outcome:
        """Send; an unexpected error of one delivery is a failure of that one only."""
        delivery = claimed.delivery
        try:
            await self.writer.call(store_body, delivery)
            now = await self.writer.call(self.clock)
            return await self.channels.send(delivery, claimed.choice, now)
        except DatabaseError:
            raise
        except Exception:  # counts as a failed attempt, so that the other deliveries go on
            log.exception("delivery %s: unexpected error", delivery.public_id)
            return Outcome(error=BROKEN)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._sending[task]
        self._woken.set()


def wait_seconds(tries: int, chance: float, asked: float = 0.0) -> float:
    """Return the seconds until the next attempt, after so many; `chance` from 0 to 1 (jitter).

    They are at least the seconds that the receiver `asked` for, up to the longest wait.
    """
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * FACTOR ** (tries - 1))
    return max(min(LONGEST_WAIT_SECONDS, asked), wait * (1 - JITTER + 2 * JITTER * chance))


def claim_due(owner: str, clock: Clock, number: int, busy: Collection[Receiver]) -> list[Claimed]:
    """Lease and return due deliveries, one for each receiver that is not `busy`."""
    now = clock()
    found: dict[Receiver, int] = {}
    columns = ("pk", "webhook_id", "owner_id")
    for pk, webhook_id, owner_id in due_deliveries(now).values_list(*columns)[:LOOKED_AT]:
        receiver = _receiver(webhook_id, owner_id)
        if receiver not in busy:
            found.setdefault(receiver, pk)
    claimed = (claim_delivery(pk, owner, now) for pk in list(found.values())[:number])
    return [each for each in claimed if each is not None]


def due_deliveries(now: datetime) -> QuerySet[Delivery]:
    """Return the deliveries that no process has; those to a disabled webhook are held back."""
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    enabled = Q(webhook=None) | Q(webhook__disabled_reason="") | Q(event=Event.TEST)
    pending = Delivery.objects.filter(state=Delivery.State.PENDING, due_at__lte=now)
    return pending.filter(free, enabled).order_by("due_at", "pk")


def claim_delivery(pk: int, owner: str, now: datetime) -> Claimed | None:
    """Lease a delivery; return None if another process was faster."""
    with transaction.atomic():
        free = Q(lease_until=None) | Q(lease_until__lt=now)
        pending = Delivery.objects.filter(free, pk=pk, state=Delivery.State.PENDING)
        if not pending.update(
            lease_owner=owner, lease_until=now + LEASE, lease_epoch=F("lease_epoch") + 1
        ):
            return None
        delivery = Delivery.objects.select_related("webhook", "run__thread").get(pk=pk)
    choice = None
    if delivery.webhook is None:
        choice = EmailChoice.objects.filter(owner=delivery.owner_id).first()
    return Claimed(delivery, choice)


def store_body(delivery: Delivery) -> None:
    """Compose the body by the first attempt; later ones send the same."""
    if not delivery.body:
        delivery.body = compose_body(delivery)
        _held(delivery).update(body=delivery.body)


def record_attempt(delivery: Delivery, outcome: Outcome, clock: Clock, waits: float) -> None:
    """Store the result of an attempt, unless another process has the delivery by now."""
    now = clock()
    attempt = {
        "at": now.isoformat(),
        "status": outcome.status,
        "seconds": outcome.seconds,
        "error": outcome.error,
    }
    attempts = [*delivery.attempts, attempt][-LOGGED_ATTEMPTS:]
    tries = delivery.tries + 1
    columns = {"attempts": attempts, "tries": tries, "lease_owner": "", "lease_until": None}
    is_last = outcome.permanent or tries >= MOST_TRIES or delivery.event == Event.TEST
    if not outcome.error:
        columns |= {"state": Delivery.State.DELIVERED, "ended_at": now}
    elif is_last:
        columns |= {"state": Delivery.State.FAILED, "ended_at": now}
    else:
        columns["due_at"] = now + timedelta(seconds=waits)
    with transaction.atomic():
        if not _held(delivery).update(**columns):
            return
        if delivery.webhook_id is None:
            return
        hook = Webhook.objects.filter(pk=delivery.webhook_id)
        if not outcome.error:
            hook.update(succeeded_at=now)
        elif is_last and delivery.event != Event.TEST:
            _disable(hook, attempts[-tries:], outcome)


def _disable(hook: QuerySet[Webhook], attempts: list[dict[str, str]], outcome: Outcome) -> None:
    """Disable a webhook that is gone, or to which nothing was delivered during these attempts."""
    since = datetime.fromisoformat(attempts[0]["at"])
    if outcome.is_gone:
        hook.update(disabled_reason=GONE)
        return
    told = PERSISTENT.format(tries=len(attempts), since=since, error=outcome.error)
    silent = hook.filter(Q(succeeded_at=None) | Q(succeeded_at__lt=since), disabled_reason="")
    silent.update(disabled_reason=told[:300])


def give_back(delivery: Delivery) -> None:
    _held(delivery).update(lease_owner="", lease_until=None, lease_epoch=F("lease_epoch") + 1)


def purge_log(clock: Clock) -> int:
    """Delete entries that ended long ago; return how many."""
    return Delivery.objects.filter(ended_at__lt=clock() - KEPT).delete()[0]


def _held(delivery: Delivery) -> QuerySet[Delivery]:
    """Return the delivery's row if the lease is still ours."""
    return Delivery.objects.filter(pk=delivery.pk, lease_epoch=delivery.lease_epoch)


def _receiver(webhook_id: int | None, owner_id: int) -> Receiver:
    return ("e-mail", owner_id) if webhook_id is None else ("webhook", webhook_id)
