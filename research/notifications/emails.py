"""What people choose about e-mails."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from research.models import EmailChoice
from research.notifications.webhooks import checked_events
from research.services.errors import ServiceError


def is_set_up() -> bool:
    """Return whether the operator has named a mail server."""
    return bool(settings.EMAIL_URL)


def email_choice(actor: AbstractUser) -> EmailChoice | None:
    return EmailChoice.objects.filter(owner=actor).first()


def choose_emails(actor: AbstractUser, address: str, events: Sequence[str]) -> EmailChoice:
    """Mail these events to the address from now on."""
    try:
        validate_email(address)
    except ValidationError:
        raise ServiceError(
            _("Enter an e-mail address, such as ada@example.org."), "address"
        ) from None
    chosen = {"address": address, "events": checked_events(events)}
    return EmailChoice.objects.update_or_create(owner=actor, defaults=chosen)[0]


def stop_emails(actor: AbstractUser) -> None:
    EmailChoice.objects.filter(owner=actor).delete()
