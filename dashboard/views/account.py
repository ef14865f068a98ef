"""Pages of an account: signing in, and its API tokens."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import sign_in
from dashboard.forms.form_errors import by_form, focus_on_first
from dashboard.stored_texts import worded
from research.services import api_tokens, people
from research.services.api_tokens import NAME_LENGTH, Scope
from research.services.errors import ServiceError

USUAL_PORT = "8000"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@require_GET
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in directly, without a confirmation page.

    A prefetching browser is turned away before the link is used up; HEAD requests of link checkers
    are refused by the decorator.
    """
    if fetches_ahead(request):
        return HttpResponse(status=204)
    if not sign_in.redeem_token(token):
        context = {"another": sign_in_command(request), "has_accounts": sign_in.has_accounts()}
        return render(request, "dashboard/link_void.html", context, status=403)
    login(request, people.local_admin(), backend=BACKEND)
    return redirect("ask")


@login_not_required
@never_cache
@require_GET
def sign_in_to_admin(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, which leads back here.

    Raise `PermissionDenied` for signed-in users who may not review.
    """
    if not request.user.is_authenticated:
        return redirect(f"{reverse('sign_in')}?{request.GET.urlencode()}")
    if not request.user.is_staff:
        raise PermissionDenied("The review is for admins.")
    return redirect("admin:index")


def fetches_ahead(request: HttpRequest) -> bool:
    names = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
    said = " ".join(request.headers.get(name, "") for name in names).lower()
    return "prefetch" in said or "prerender" in said or "preview" in said


@method_decorator([login_not_required, never_cache], name="dispatch")
class SignIn(LoginView):
    """A password form if any account has a password; otherwise only where to find the link."""

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        context = super().get_context_data(**kwargs)
        return {
            **context,
            "has_accounts": sign_in.has_accounts(),
            "another": sign_in_command(self.request),
            "create_account": sign_in.CREATE_ACCOUNT,
        }


@never_cache
@by_form
def sign_out(request: HttpRequest) -> HttpResponseBase:
    """Sign out; without a password only once the way back in has been shown."""
    user = request.user
    if user.is_authenticated and not user.has_usable_password() and "confirmed" not in request.POST:
        return render(request, "dashboard/sign_out.html", {"another": sign_in_command(request)})
    return LogoutView.as_view()(request)


def sign_in_command(request: HttpRequest) -> str:
    """Return the command that prints a new sign-in link for this server."""
    port = request.get_port()
    return sign_in.COMMAND if port == USUAL_PORT else f"{sign_in.COMMAND} --port {port}"


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


VALIDITIES = [
    ("30", gettext_lazy("30 days")),
    ("90", gettext_lazy("90 days")),
    ("365", gettext_lazy("A year")),
    ("", gettext_lazy("Until revoked")),
]
ACCESS = [
    ("read write", gettext_lazy("Read and write: start, steer and delete runs")),
    ("read", gettext_lazy("Read only")),
]


class TokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=NAME_LENGTH,
        widget=forms.TextInput(
            attrs={"placeholder": gettext_lazy("Chat client"), "autocomplete": "off"}
        ),
        error_messages={
            "required": gettext_lazy("Enter the name of the program that will use it.")
        },
    )
    access = forms.ChoiceField(label=gettext_lazy("Access"), choices=ACCESS, initial=ACCESS[0][0])
    days = forms.TypedChoiceField(
        label=gettext_lazy("Valid for"),
        required=False,
        choices=VALIDITIES,
        initial="90",
        coerce=int,
        empty_value=None,
    )
    max_cost_usd = forms.FloatField(
        label=gettext_lazy("Budget per run, in dollars"),
        required=False,
        help_text=gettext_lazy("Leave empty for the server's limit."),
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )

    use_required_attribute = False

    def scopes(self) -> list[Scope]:
        return [Scope(name) for name in self.cleaned_data["access"].split()]
