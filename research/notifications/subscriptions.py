"""What people subscribe to: their webhooks (add, change, test, rotate the secret, redeliver) and
their e-mails.

Every function takes the person; rows of others are not found. Raises `ServiceError` for a value
or state that doesn't allow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from research.engine.ports import FetchFailedError
from research.fetch.url_policy import check_url
from research.models import Delivery, EmailChoice, Event, Webhook
from research.notifications.channels import address_rules, new_secret
from research.notifications.composing import CONFIRMS
from research.services.errors import InvalidValueError, ServiceError
from research.worker import notify

MOST_WEBHOOKS = 20
URL_LENGTH = 2_000
MOST_TEST_MAILS = 5
HOUR = timedelta(hours=1)
BOTH_SECRETS = timedelta(days=1)
"""How long the secret before the current one still signs deliveries."""

SUBSCRIBABLE = tuple(event for event in Event if event is not Event.TEST)
CONFIRMED_WITHIN = timedelta(days=3)


def list_webhooks(actor: AbstractUser) -> Sequence[Webhook]:
    return list(actor.webhooks.all())


def add_webhook(actor: AbstractUser, url: str, events: Sequence[str]) -> Webhook:
    """Create a webhook with a new secret, which its page shows only now."""
    if actor.webhooks.count() >= MOST_WEBHOOKS:
        told = _("You have {number} webhooks; delete one first.")
        raise ServiceError(told.format(number=MOST_WEBHOOKS))
    return Webhook.objects.create(
        owner=actor, url=checked_url(url), events=checked_events(events), secret=new_secret()
    )


def change_webhook(
    hook: Webhook,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> Webhook:
    """Change the given values. Once enabled again, a webhook receives what was held back."""
    if url is not None:
        hook.url = checked_url(url)
    if events is not None:
        hook.events = checked_events(events)
    if enabled is not None and enabled == bool(hook.disabled_reason):
        hook.disabled_reason = "" if enabled else _("Disabled by its owner.")
    hook.save(update_fields=("url", "events", "disabled_reason"))
    return hook


def delete_webhook(hook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    hook.delete()


def rotate_secret(hook: Webhook) -> Webhook:
    """Give the webhook a new secret; for a day deliveries are signed with the old one, too."""
    hook.previous_secret, hook.secret = hook.secret, new_secret()
    hook.previous_until = timezone.now() + BOTH_SECRETS
    hook.save(update_fields=("secret", "previous_secret", "previous_until"))
    return hook


def send_test(actor: AbstractUser, hook: Webhook | None = None) -> Delivery:
    """Store a test for the webhook, or for the person's e-mail address. It is tried once.

    A mail to an address that isn't confirmed has the link for it; not many are sent in an hour.
    """
    if hook is None:
        tests = actor.deliveries.filter(webhook=None, event=Event.TEST)
        if tests.filter(created_at__gt=timezone.now() - HOUR).count() >= MOST_TEST_MAILS:
            raise ServiceError(_("Many test e-mails were sent in the last hour; try again later."))
    made = Delivery.objects.create(owner=actor, webhook=hook, event=Event.TEST)
    notify.wake_after_commit()
    return made


def deliveries_of(actor: AbstractUser, hook: Webhook | None = None) -> QuerySet[Delivery]:
    """Return the log of a webhook, or of the person's e-mails, newest first."""
    return actor.deliveries.filter(webhook=hook).select_related("run").order_by("-pk")


def redeliver(delivery: Delivery) -> Delivery:
    """Send a delivery again at once, with the same id and body; a test by e-mail is a new one."""
    if delivery.webhook is None and delivery.event == Event.TEST:
        return send_test(delivery.owner)
    with transaction.atomic():
        free = Delivery.objects.filter(pk=delivery.pk, lease_owner="")
        changed = free.update(
            state=Delivery.State.PENDING,
            tries=0,
            due_at=timezone.now(),
            ended_at=None,
            lease_epoch=F("lease_epoch") + 1,
        )
        notify.wake_after_commit()
    if not changed:
        raise ServiceError(_("This delivery is being sent at this moment."))
    delivery.refresh_from_db()
    return delivery


def checked_events(events: Sequence[str]) -> list[str]:
    chosen = [event.value for event in SUBSCRIBABLE if event in events]
    if not chosen:
        raise InvalidValueError(_("Choose at least one event."), "events")
    return chosen


def checked_url(url: str) -> str:
    """Return the address in its checked form; refuse those that pages may not be fetched from."""
    if len(url) > URL_LENGTH:
        raise InvalidValueError(_("The address is too long."), "url")
    try:
        return check_url(url.strip(), address_rules()).url
    except FetchFailedError as failure:
        told = _("This address can't be used ({reason}).")
        raise InvalidValueError(
            told.format(reason=failure.reason.removeprefix("refused: ")), "url"
        ) from None


def has_mail_server() -> bool:
    """Return whether the operator has named a mail server."""
    return bool(settings.EMAIL_URL)


def email_choice(actor: AbstractUser) -> EmailChoice | None:
    return EmailChoice.objects.filter(owner=actor).first()


def choose_emails(actor: AbstractUser, address: str, events: Sequence[str]) -> EmailChoice:
    """Mail these events to the address from now on.

    One that is neither the account's own nor confirmed before gets a link first, and nothing else
    until the person has opened it. Raise `ServiceError` for too many links in an hour.
    """
    try:
        validate_email(address)
    except ValidationError:
        raise InvalidValueError(
            _("Enter an e-mail address, such as ada@example.org."), "address"
        ) from None
    before = email_choice(actor)
    is_same = before is not None and before.address == address
    confirmed = address == actor.email or (before is not None and is_same and before.confirmed)
    chosen = {"address": address, "events": checked_events(events), "confirmed": confirmed}
    with transaction.atomic():
        made = EmailChoice.objects.update_or_create(owner=actor, defaults=chosen)[0]
        if not confirmed and not is_same:
            send_test(actor)
    return made


def confirm_address(actor: AbstractUser, token: str) -> EmailChoice:
    """Confirm the address to which the token was mailed."""
    try:
        owner, address = signing.loads(token, salt=CONFIRMS, max_age=CONFIRMED_WITHIN)
    except signing.BadSignature:
        raise ServiceError(_("This link is damaged or too old; send another one.")) from None
    choice = EmailChoice.objects.filter(owner=actor, owner_id=owner, address=address).first()
    if choice is None:
        raise ServiceError(_("This link is for another account or address."))
    choice.confirmed = True
    choice.save(update_fields=("confirmed",))
    return choice


def stop_emails(actor: AbstractUser) -> None:
    EmailChoice.objects.filter(owner=actor).delete()
