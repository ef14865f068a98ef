"""The pages of notifications and schedules: webhooks, e-mails with the logs of both; schedules."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard.automation import shown
from dashboard.automation.forms import EmailForm, ScheduleForm, WebhookForm
from dashboard.automation.shown import find_schedule, find_webhook
from dashboard.forms.form_errors import by_form, focus_on_first
from research.models import Webhook
from research.notifications import subscriptions
from research.schedules import manage
from research.services.errors import ServiceError


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_notifications(request: HttpRequest) -> HttpResponse:
    """List the webhooks; a POST adds one, whose secret is shown in its response only."""
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            values = form.cleaned_data
            made = subscriptions.add_webhook(request.user, values["url"], values["events"])
        except ServiceError as error:
            form.add_error(error.about or None, str(error))
        else:
            return _webhook_page(request, made, secret=made.secret)
    focus_on_first(form)
    hooks = subscriptions.list_webhooks(request.user)
    email, has_mail_server = (
        subscriptions.email_choice(request.user),
        subscriptions.has_mail_server(),
    )
    context = {
        "form": form,
        "adding": form.is_bound or request.GET.get("new") == "webhook",
        "browser": shown.BROWSER,
        "webhooks": [shown.webhook_line(hook) for hook in hooks],
        "webhooks_state": shown.webhooks_state(hooks),
        "email": email,
        "email_state": shown.email_state(email, has_mail_server),
        "has_mail_server": has_mail_server,
    }
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/notifications.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_webhook(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a webhook with its log; a POST changes it."""
    hook = find_webhook(request.user, public_id)
    if request.method != "POST":
        return _webhook_page(request, hook)
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            subscriptions.change_webhook(hook, **form.cleaned_data)
        except ServiceError as error:
            form.add_error(error.about or None, str(error))
        else:
            messages.success(request, _("Saved."))
            return redirect("webhook", public_id)
    focus_on_first(form)
    return _webhook_page(request, hook, form=form, status=422)


@never_cache
@require_GET
def show_webhook_log(request: HttpRequest, public_id: str) -> HttpResponse:
    hook = find_webhook(request.user, public_id)
    context = shown.log_context(subscriptions.deliveries_of(request.user, hook), hook)
    return render(request, "dashboard/_deliveries.html", context)


@never_cache
@by_form
def rotate_secret(request: HttpRequest, public_id: str) -> HttpResponse:
    hook = subscriptions.rotate_secret(find_webhook(request.user, public_id))
    return _webhook_page(request, hook, secret=hook.secret, rotated=True)


@by_form
def test_webhook(request: HttpRequest, public_id: str) -> HttpResponse:
    subscriptions.send_test(request.user, find_webhook(request.user, public_id))
    return redirect("webhook", public_id)


@by_form
def switch_webhook(request: HttpRequest, public_id: str) -> HttpResponse:
    hook = find_webhook(request.user, public_id)
    subscriptions.change_webhook(hook, enabled="enable" in request.POST)
    return redirect("webhook", public_id)


@by_form
def delete_webhook(request: HttpRequest, public_id: str) -> HttpResponse:
    subscriptions.delete_webhook(find_webhook(request.user, public_id))
    messages.info(request, _("The webhook was deleted."))
    return redirect("notifications")


@by_form
def redeliver(request: HttpRequest, public_id: str = "") -> HttpResponse:
    """Send a delivery of the webhook, or of the e-mails, again."""
    hook = find_webhook(request.user, public_id) if public_id else None
    found = subscriptions.deliveries_of(request.user, hook)
    row = found.filter(public_id=request.POST.get("delivery", "")).first()
    if row is None:
        raise Http404("no such delivery")
    try:
        subscriptions.redeliver(row)
    except ServiceError as error:
        messages.error(request, str(error))
    return redirect("webhook", public_id) if hook else redirect("emails")


# --- e-mails -------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_emails(request: HttpRequest) -> HttpResponse:
    """Show what is mailed, with the log; a POST changes it."""
    choice = subscriptions.email_choice(request.user)
    initial = {"address": request.user.email}
    if choice:
        initial = {"address": choice.address, "events": choice.events}
    form = EmailForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            subscriptions.choose_emails(request.user, values["address"], values["events"])
        except ServiceError as error:
            form.add_error(error.about or None, str(error))
        else:
            messages.success(request, _("Saved."))
            return redirect("emails")
    focus_on_first(form)
    context = {
        "form": form,
        "choice": choice,
        "has_mail_server": subscriptions.has_mail_server(),
        **shown.log_context(subscriptions.deliveries_of(request.user)),
    }
    return render(request, "dashboard/emails.html", context, status=422 if form.is_bound else 200)


@never_cache
@require_GET
def show_email_log(request: HttpRequest) -> HttpResponse:
    context = shown.log_context(subscriptions.deliveries_of(request.user))
    return render(request, "dashboard/_deliveries.html", context)


@never_cache
@require_GET
def confirm_email(request: HttpRequest) -> HttpResponse:
    """Confirm the address to which this link was mailed; the link of a mail can only be a GET."""
    try:
        subscriptions.confirm_address(request.user, request.GET.get("token", ""))
    except ServiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Your e-mail address is confirmed."))
    return redirect("emails")


@by_form
def test_emails(request: HttpRequest) -> HttpResponse:
    try:
        subscriptions.send_test(request.user)
    except ServiceError as error:
        messages.error(request, str(error))
    return redirect("emails")


@by_form
def stop_emails(request: HttpRequest) -> HttpResponse:
    subscriptions.stop_emails(request.user)
    messages.info(request, _("You get no more e-mails."))
    return redirect("emails")


def _webhook_page(
    request: HttpRequest,
    hook: Webhook,
    *,
    form: WebhookForm | None = None,
    status: int = 200,
    **context: object,
) -> HttpResponse:
    initial = {"url": hook.url, "events": hook.events}
    context |= {
        "hook": shown.webhook_line(hook),
        "form": form or WebhookForm(initial=initial),
        **shown.log_context(subscriptions.deliveries_of(request.user, hook), hook),
    }
    return render(request, "dashboard/webhook.html", context, status=status)


ACTIONS: dict[str, Callable[..., HttpResponse]] = {
    "rotate": rotate_secret,
    "test": test_webhook,
    "switch": switch_webhook,
    "delete": delete_webhook,
    "redeliver": redeliver,
}
"""Forms on the page of a webhook, by the last part of their address."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_schedules(request: HttpRequest) -> HttpResponse:
    """List the schedules; a POST adds one. `?question=` fills in the form."""
    last = manage.list_schedules(request.user)
    initial = {"question": request.GET.get("question", "")}
    if last:
        initial["time_zone"] = last[-1].time_zone
    form = ScheduleForm(request.user, request.POST or None, **initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = manage.add_schedule(request.user, form.plan())
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, str(error))
        else:
            return redirect("schedule", made.public_id)
    focus_on_first(form)
    context = {"form": form, "schedules": [shown.schedule_line(row) for row in last]}
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/schedules.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show a schedule with its results; a POST changes it."""
    schedule = find_schedule(request.user, public_id)
    form = ScheduleForm(request.user, request.POST or None, schedule=schedule)
    if request.method == "POST" and form.is_valid():
        try:
            manage.change_schedule(schedule, form.changes())
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, str(error))
        else:
            messages.success(request, _("Saved."))
            return redirect("schedule", public_id)
    focus_on_first(form)
    stored = find_schedule(request.user, public_id)
    context = {
        "form": form,
        "schedule": shown.schedule_line(stored),
        "results": shown.result_lines(stored),
    }
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/schedule.html", context, status=status)


@by_form
def pause_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    schedule = find_schedule(request.user, public_id)
    manage.change_schedule(schedule, {"paused": "pause" in request.POST})
    return redirect("schedule", public_id)


@by_form
def delete_schedule(request: HttpRequest, public_id: str) -> HttpResponse:
    manage.delete_schedule(find_schedule(request.user, public_id))
    messages.info(request, _("The schedule was deleted; its runs stay."))
    return redirect("schedules")
