"""The setup page with its preflight checks, for admins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard import words
from dashboard.forms import presets
from dashboard.forms.form_errors import by_form
from dashboard.forms.installation_form import InstallationForm
from dashboard.forms.presets import Preset, PresetForm, find_preset, preset_of
from dashboard.forms.sources import at_work, describe_model
from dashboard.last_test import (
    failed_model,
    forget_test,
    has_passed,
    keep_test,
    last_test,
    result_of,
    shown_check,
    tested_at,
)
from dashboard.queries import queries, usage
from dashboard.stored_texts import worded
from research.runtime import installation, status_summary
from research.services.errors import ServiceError
from research.services.installation import change_settings, disconnect_model, propose_settings

if TYPE_CHECKING:
    from research.llm.local import LocalServer
    from research.runtime.installation import Installation

admin_only = user_passes_test(lambda user: user.is_staff)


@admin_only
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_settings(request: HttpRequest) -> HttpResponse:
    """Show the settings, or save what was sent: with `try`, only a model that passes its test."""
    now = installation.current_installation()
    preset = find_preset(request.POST.get("preset"))
    sent = request.POST or None
    form = PresetForm(now, preset, sent) if preset else InstallationForm(now, sent)
    refused = None
    if request.method == "POST" and form.is_valid():
        try:
            if "try" in request.POST:
                refused = _save_if_it_works(request, now, form.changes())
            else:
                _save(request, form.changes())
                messages.success(request, _("Saved. New runs use these settings."))
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, worded(str(error)))
        else:
            if refused is None:
                return redirect("installation")
    return _render_settings(request, form, refused, status=422 if form.is_bound else 200)


def _save(request: HttpRequest, changes: Mapping[str, str]) -> None:
    change_settings(request.user, changes)
    if changes:
        forget_test(request.session, installation.current_installation())


def _save_if_it_works(
    request: HttpRequest, now: Installation, changes: Mapping[str, str]
) -> dict[str, Any] | None:
    """Test the settings before they are saved, and keep the test. If the model was changed and
    fails, nothing is saved: return its check.
    """
    from research.runtime.preflight import MODEL, run_preflight

    tried = propose_settings(request.user, changes)
    found = async_to_sync(run_preflight)(now=tried)
    if found.is_model_refused and tried.model_settings != now.model_settings:
        keep_test(request.session, tried, found, is_saved=False)
        return next(shown_check(asdict(each)) for each in found.checks if each.name == MODEL)
    _save(request, changes)
    keep_test(request.session, tried, found)
    return None


@admin_only
@never_cache
@by_form
def try_settings(request: HttpRequest) -> HttpResponse:
    """Run the preflight checks on the current settings, which takes a few short model calls."""
    from research.runtime.preflight import run_preflight

    now = installation.current_installation()
    keep_test(request.session, now, async_to_sync(run_preflight)(now=now))
    return redirect("installation")


@admin_only
@never_cache
@by_form
def disconnect(request: HttpRequest) -> HttpResponse:
    """Delete address, key and models that were set on the page."""
    disconnect_model(request.user)
    forget_test(request.session, installation.current_installation())
    messages.success(request, _("Disconnected. New runs quote passages, without a model."))
    return redirect("installation")


@admin_only
@never_cache
@by_form
def qualify_verifier(request: HttpRequest) -> HttpResponse:
    """Have the model judge the labelled pairs, and report whether it may check statements."""
    from research.runtime.preflight import check_verifier

    now = installation.current_installation()
    if now.model_settings is None:
        messages.error(request, _("No model is set."))
    else:
        check = async_to_sync(check_verifier)(now, qualify=True)
        told = messages.success if check.state == "good" else messages.warning
        shown = shown_check(asdict(check))
        told(request, f"{shown['found']} {shown['advice']}".strip())
    return redirect("installation")


def _render_settings(
    request: HttpRequest, form: InstallationForm, refused: dict[str, Any] | None, status: int
) -> HttpResponse:
    from research.llm.local import find_local

    local = async_to_sync(find_local)(settings.LOCAL_MODEL_PORTS)
    context = settings_context(request, form, local) | _verifier() | {"refused": refused}
    return render(request, "dashboard/installation.html", context, status=status)


def _verifier() -> dict[str, Any]:
    """Return the qualification of the model as verifier; {} if no model is set."""
    from research.runtime.preflight import check_verifier
    from research.runtime.verifier import price_told

    now = installation.current_installation()
    if now.model_settings is None:
        return {}
    check = async_to_sync(check_verifier)(now)
    return {
        "verifier": shown_check(asdict(check)),
        "verifier_price": worded(price_told(now.model_settings)),
    }


def settings_context(
    request: HttpRequest,
    form: InstallationForm,
    local: Sequence[LocalServer],
) -> dict[str, Any]:
    now = installation.current_installation()
    tested = last_test(request.session, now)
    checks = tested.get("checks", ())
    at = tested_at(tested)
    reach = status_summary.search_reach(now)
    collections = queries.collections_to_ask(request.user) if reach == "samples" else ()
    chosen = form if isinstance(form, PresetForm) else None
    if request.method == "GET" and (preset := find_preset(request.GET.get("preset"))):
        chosen = PresetForm(now, preset)
    return {
        "page": "installation",
        "model_now": describe_model(now),
        "model_state": _model_state(request, now),
        "can_disconnect": now.values[presets.MODEL].origin == "stored",
        "search_state": words.SEARCHED["more" if collections else reach],
        "search_now": worded(at_work(now, collections)),
        "collections": words.join_words([row.name for row in collections]),
        "models": _choices(() if form.server_is_given else presets.MODELS, has_found=bool(local)),
        "searches": _choices(
            () if now.values[presets.SEARCH].origin == "environment" else presets.search_presets()
        ),
        "chosen": chosen,
        "form": InstallationForm(now) if chosen else form,
        "local": [] if form.server_is_given else [_offer(server, now) for server in local],
        "in_use": words.IN_USE,
        "checks": [shown_check(each) for each in checks],
        "result": result_of(tested),
        "tested": words.time_ago(at, timezone.now()) if at else "",
        "ready": all(each["state"] != "bad" for each in checks),
    }


def _model_state(request: HttpRequest, now: Installation) -> words.State:
    """Return the state of the model that is set, by its last test or else its last answer."""
    if not now["RESEARCH_MODEL"]:
        return words.NO_MODEL
    if overdue := usage.overdue_call(usage.runs_calling(now["RESEARCH_MODEL"])):
        passed = words.format_seconds(round((timezone.now() - overdue.since).total_seconds()))
        return words.State(_("No answer for %(time)s") % {"time": passed}, "cross", "bad")
    if failed_model(request.session, now):
        return words.TEST_FAILED
    if has_passed(request.session, now):
        return words.CONNECTED
    if (answered := usage.last_answer(now["RESEARCH_MODEL"])) is None:
        return words.UNTESTED
    told = words.time_ago(answered, timezone.now())
    return words.State(_("Answered %(time)s") % {"time": told}, "check", "good")


def _choices(offered: Sequence[Preset], *, has_found: bool = False) -> dict[str, list[Preset]]:
    """Return the presets that most people start with, and the others; {} if there are none.

    If a server was found, all are others.
    """
    if not offered:
        return {}
    usual = [preset for preset in offered if preset.is_usual and not has_found]
    return {"usual": usual, "others": [preset for preset in offered if preset not in usual]}


def _offer(server: LocalServer, now: Installation) -> dict[str, Any]:
    is_set = now[presets.ADDRESS] == server.address
    models = [
        {
            "id": model,
            "name": model.rpartition("/")[2],
            "in_use": is_set and now[presets.MODEL] == model,
        }
        for model in server.models
    ]
    preset = preset_of(server)
    return {"name": server.name, "address": server.address, "models": models, "preset": preset}
