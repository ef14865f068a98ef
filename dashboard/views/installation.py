"""The setup page with its preflight checks, for admins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
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
from dashboard.forms.presets import Preset, PresetForm, find_preset
from dashboard.forms.sources import at_work, describe_model
from dashboard.queries import queries, usage
from dashboard.stored_texts import worded
from research.runtime import installation, status_summary
from research.services.errors import ServiceError
from research.services.installation import change_settings

if TYPE_CHECKING:
    from research.llm.local import LocalServer
    from research.runtime.installation import Installation

LAST_TEST = "last_test"
"""Of a session: the `model` that was tested last, when (`at`), and all `checks` of that test."""

admin_only = user_passes_test(lambda user: user.is_staff)


@admin_only
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_settings(request: HttpRequest) -> HttpResponse:
    now = installation.current_installation()
    preset = find_preset(request.POST.get("preset"))
    sent = request.POST or None
    form = PresetForm(now, preset, sent) if preset else InstallationForm(now, sent)
    if request.method == "POST" and form.is_valid():
        try:
            change_settings(request.user, form.changes())
            request.session.pop(LAST_TEST, None)
        except ServiceError as error:
            form.add_error(error.about if error.about in form.fields else None, worded(str(error)))
        else:
            if "try" in request.POST:
                return _run_checks(request)
            messages.success(request, _("Saved. New runs use these settings."))
            return redirect("installation")
    return _render_settings(request, form, status=422 if form.is_bound else 200)


@admin_only
@never_cache
@by_form
def try_settings(request: HttpRequest) -> HttpResponse:
    """Run the preflight checks on the current settings, which takes two short model calls."""
    return _run_checks(request)


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
        told(request, f"{worded(check.found)} {worded(check.advice)}".strip())
    return redirect("installation")


def _run_checks(request: HttpRequest) -> HttpResponse:
    """Keep the results of all checks in the session, so that the page has them when it is opened
    again, until a setting is changed.
    """
    from research.runtime.preflight import run_preflight

    found = async_to_sync(run_preflight)()
    request.session[LAST_TEST] = {
        "model": describe_model(installation.current_installation()),
        "at": timezone.now().isoformat(),
        "checks": [asdict(check) for check in found.checks],
    }
    return redirect("installation")


def _render_settings(request: HttpRequest, form: InstallationForm, status: int) -> HttpResponse:
    from research.llm.local import find_local

    local = async_to_sync(find_local)(settings.LOCAL_MODEL_PORTS)
    context = settings_context(request, form, local) | _verifier()
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
    tested = _last_test(request, now)
    tested_at = datetime.fromisoformat(tested["at"]) if tested else None
    reach = status_summary.search_reach(now)
    collections = queries.collections_to_ask(request.user) if reach == "samples" else ()
    chosen = form if isinstance(form, PresetForm) else None
    if request.method == "GET" and (preset := find_preset(request.GET.get("preset"))):
        chosen = PresetForm(now, preset)
    return {
        "page": "installation",
        "model_now": describe_model(now),
        "model_state": _model_state(tested, now),
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
        "checks": [shown_check(each) for each in tested.get("checks", ())],
        "tested": words.time_ago(tested_at, timezone.now()) if tested_at else "",
        "ready": not _has_failed(tested),
    }


def _last_test(request: HttpRequest, now: Installation) -> dict[str, Any]:
    """Return the last test of this session; {} if there was none, or the model has changed."""
    tested: dict[str, Any] = request.session.get(LAST_TEST) or {}
    return tested if tested.get("model") == describe_model(now) else {}


def _has_failed(tested: dict[str, Any], name: str = "") -> bool:
    """Return whether a check failed: any, or the one with a name."""
    states = {each["name"]: each["state"] for each in tested.get("checks", ())}
    return states.get(name) == "bad" if name else "bad" in states.values()


def _model_state(tested: dict[str, Any], now: Installation) -> words.State:
    """Return the state of the model that is set, by its last test or else its last answer."""
    if not now["RESEARCH_MODEL"]:
        return words.NO_MODEL
    if overdue := usage.overdue_call(usage.runs_calling(now["RESEARCH_MODEL"])):
        passed = words.format_seconds(round((timezone.now() - overdue.since).total_seconds()))
        return words.State(_("No answer for %(time)s") % {"time": passed}, "cross", "bad")
    if not any(each["name"] == "Model" for each in tested.get("checks", ())):
        answered = usage.last_answer(now["RESEARCH_MODEL"])
        if answered is None:
            return words.UNTESTED
        told = words.time_ago(answered, timezone.now())
        return words.State(_("Answered %(time)s") % {"time": told}, "check", "good")
    return words.TEST_FAILED if _has_failed(tested, "Model") else words.CONNECTED


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
    return {"name": server.name, "address": server.address, "models": models}


def shown_check(check: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a check as the page shows them."""
    is_later = check["name"] == "Verifier" and check["state"] == "idle"
    return {
        "name": worded(check["name"]),
        "state": words.TESTED_LATER if is_later else words.CHECK[check["state"]],
        "found": worded(check["found"]),
        "advice": worded(check["advice"]),
    }
