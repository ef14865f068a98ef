"""The settings page: what holds, what runs on this machine, what a check found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboard import words
from dashboard.installation_form import InstallationForm

if TYPE_CHECKING:
    from research.llm.local import LocalServer
    from research.preflight import Check


def settings_context(
    form: InstallationForm, local: Sequence[LocalServer], checks: Sequence[Check] = ()
) -> dict[str, Any]:
    return {
        "page": "installation",
        "form": form,
        "local": [] if form.server_is_given else [_offer(server) for server in local],
        "checks": [_check(check) for check in checks],
        "ready": all(check.state != "bad" for check in checks),
    }


def _offer(server: LocalServer) -> dict[str, Any]:
    models = [{"id": model, "name": model.rpartition("/")[2]} for model in server.models]
    return {"name": server.name, "address": server.address, "models": models}


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "state": words.CHECK[check.state],
        "found": check.found,
        "advice": check.advice,
    }
