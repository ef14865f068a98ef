"""The page "Work": the queue and the state of all runs, for admins."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.contexts.work import work_context
from dashboard.views.sending import by_form
from research.services import work

admin_only = user_passes_test(lambda user: user.is_staff)


@admin_only
@never_cache
@require_GET
def show_work(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/work.html", work_context(work.read_work(request.user)))


@admin_only
@never_cache
@by_form
def retry_runs(request: HttpRequest) -> HttpResponse:
    """Retry the stalled runs that the form names."""
    retried = work.retry_stalled(request.user, request.POST.getlist("run"))
    if retried:
        messages.success(
            request,
            ngettext(
                "%(n)s run is back in the queue.", "%(n)s runs are back in the queue.", retried
            )
            % {"n": retried},
        )
    else:
        messages.info(request, _("Nothing to retry: the run is no longer put aside."))
    return redirect("work")
