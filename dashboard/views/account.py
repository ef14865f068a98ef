"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import sign_in
from research.services import people

BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@require_GET
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Signs in at once, as people expect of a printed link.

    A browser that only fetches ahead says so and is sent away before the link is used up;
    HEAD, which link checkers send, is refused by the decorator.
    """
    if fetches_ahead(request):
        return HttpResponse(status=204)
    if not sign_in.redeem(token):
        return render(request, "dashboard/link_void.html", status=403)
    login(request, people.local_admin(), backend=BACKEND)
    return redirect("ask")


def fetches_ahead(request: HttpRequest) -> bool:
    names = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
    said = " ".join(request.headers.get(name, "") for name in names).lower()
    return "prefetch" in said or "prerender" in said or "preview" in said


@method_decorator([login_not_required, never_cache], name="dispatch")
class SignIn(LoginView):
    """A form where somebody has a password; else only where to find the link."""

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        return {**super().get_context_data(**kwargs), "has_accounts": sign_in.has_accounts()}
