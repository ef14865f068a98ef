"""The page of a user's API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.forms.form_errors import focus_on_first
from dashboard.forms.token_form import TokenForm
from dashboard.stored_texts import worded
from dashboard.views.sending import by_form
from research.services import api_tokens
from research.services.errors import ServiceError


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens; a POST creates one, whose secret is shown in its response only."""
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = api_tokens.create_token(
                request.user,
                form.cleaned_data["name"],
                form.scopes(),
                days=form.cleaned_data["days"],
                max_cost_usd=form.cleaned_data["max_cost_usd"],
            )
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, worded(str(error)))
        else:
            return _page(request, TokenForm(), made=made, secret=secret)
    focus_on_first(form)
    return _page(request, form, status=422 if form.is_bound else 200)


@by_form
def revoke_token(request: HttpRequest, public_id: str) -> HttpResponse:
    try:
        name = api_tokens.revoke_token(request.user, public_id)
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    else:
        messages.info(request, _("“%(name)s” was revoked.") % {"name": name})
    return redirect("tokens")


def _page(
    request: HttpRequest, form: TokenForm, status: int = 200, **context: object
) -> HttpResponse:
    tokens = api_tokens.list_tokens(request.user)
    context |= {"form": form, "tokens": tokens}
    context["address"] = request.build_absolute_uri("/")
    return render(request, "dashboard/tokens.html", context, status=status)
