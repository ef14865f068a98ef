"""What people choose about e-mails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _

from research.models import EmailChoice
from research.notifications.composing import CONFIRMS
from research.notifications.webhooks import checked_events, send_test
from research.services.errors import InvalidValueError, ServiceError

CONFIRMED_WITHIN = timedelta(days=3)


def is_set_up() -> bool:
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
    confirmed = address == actor.email or (is_same and before.confirmed)
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
