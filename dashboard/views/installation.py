"""The settings of the installation, and the check that everything works; for admins."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.contexts.installation import settings_context
from dashboard.installation_form import InstallationForm
from dashboard.views.sending import by_form
from research import installation
from research.services.errors import ServiceError
from research.services.installation import change

admin_only = user_passes_test(lambda user: user.is_staff)


@admin_only
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_settings(request: HttpRequest) -> HttpResponse:
    form = InstallationForm(installation.current(), request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            change(request.user, form.changes())
        except ServiceError as error:
            form.add_error(error.about or None, str(error))
        else:
            if "try" in request.POST:
                return _tried(request)
            messages.success(request, "Saved. New runs use it.")
            return redirect("installation")
    return _page(request, form, status=422 if form.is_bound else 200)


@admin_only
@never_cache
@by_form
def try_settings(request: HttpRequest) -> HttpResponse:
    """Try what holds now; it makes two short calls to the model."""
    return _tried(request)


def _tried(request: HttpRequest) -> HttpResponse:
    from research.preflight import run_preflight

    found = async_to_sync(run_preflight)()
    form = InstallationForm(installation.current())
    context = settings_context(form, found.local, found.checks)
    return render(request, "dashboard/installation.html", context)


def _page(request: HttpRequest, form: InstallationForm, status: int) -> HttpResponse:
    from research.llm.local import find_local

    local = async_to_sync(find_local)(settings.LOCAL_MODEL_PORTS)
    return render(
        request, "dashboard/installation.html", settings_context(form, local), status=status
    )
