"""The single account of a new installation, and who may read runs: accounts, and by a link anyone.

A link carries 192 random bits, so it can't be guessed.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from research.engine.records import ENDED
from research.models import Run, ShareLink
from research.services.errors import ServiceError

LOCAL = "local"
SHARING_OFF = "Sharing reports is turned off on this server."
NOTHING_TO_SHARE = "Only a finished report can be shared."


def local_admin() -> AbstractUser:
    """Return the superuser of this machine, who signs in by link and has no password."""
    people = get_user_model()._default_manager
    admin, created = people.get_or_create(
        username=LOCAL, defaults={"is_staff": True, "is_superuser": True}
    )
    if created:
        admin.set_unusable_password()
        admin.save(update_fields=("password",))
    return admin


def require_access(actor: AbstractUser, run: Run) -> None:
    """Raise `PermissionDenied` unless the actor owns the run or is staff."""
    if not (actor.is_staff or run.owner_id == actor.pk):
        raise PermissionDenied("This run belongs to another user.")


def share_report(actor: AbstractUser, run: Run) -> ShareLink:
    """Return the link by which anyone can read the report of a run, made if there is none.

    Raise `ServiceError` if there is no finished report, or if this installation shares none.
    """
    require_access(actor, run)
    if reason := why_not_shared(run):
        raise ServiceError(reason)
    ShareLink.objects.filter(run=run, actor__is_active=False).delete()
    link, _made = ShareLink.objects.get_or_create(run=run, defaults={"actor": actor})
    return link


def why_not_shared(run: Run) -> str:
    """Return why the report of a run can't be shared, or ''."""
    if not settings.SHARE_REPORTS:
        return SHARING_OFF
    is_written = run.ended and run.reports.exclude(markdown="").exists()
    return "" if is_written else NOTHING_TO_SHARE


def stop_sharing(actor: AbstractUser, run: Run) -> None:
    """Delete the link of a run: its address is void at once, and the next one is another."""
    require_access(actor, run)
    ShareLink.objects.filter(run=run).delete()


def open_links() -> QuerySet[ShareLink]:
    """Return the links that work: not those to deleted runs, or made by deactivated accounts."""
    if not settings.SHARE_REPORTS:
        return ShareLink.objects.none()
    return ShareLink.objects.filter(
        run__status__in=ENDED, run__thread__deleted_at=None, actor__is_active=True
    )
