"""The last test of the installation, which a session keeps, and how pages show its checks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, ngettext

from dashboard import words
from dashboard.queries import usage
from dashboard.stored_texts import worded
from research.runtime.installation import SERVER, Installation, setting_names

if TYPE_CHECKING:
    from research.runtime.preflight import Preflight

LAST_TEST, REFUSED_TEST = "last_test", "refused_test"
"""Of a session: the test of the settings in effect, and that of a model that was not saved. Both
have the `model`, when it was tested (`at`), and all `checks`.
"""


def keep_test(
    session: SessionBase, tried: Installation, found: Preflight, *, is_saved: bool = True
) -> None:
    session[LAST_TEST if is_saved else REFUSED_TEST] = {
        "model": _model_id(tried),
        "at": timezone.now().isoformat(),
        "checks": [asdict(check) for check in found.checks],
    }


def forget_test(session: SessionBase, now: Installation) -> None:
    """Drop the last test, since a setting was changed. If a model was saved although it had failed
    its test, that is the last one.
    """
    refused = session.pop(REFUSED_TEST, None)
    session.pop(LAST_TEST, None)
    if refused and refused["model"] == _model_id(now):
        session[LAST_TEST] = refused


def last_test(session: SessionBase, now: Installation) -> dict[str, Any]:
    """Return the last test; {} if there was none, or the model has changed."""
    tested: dict[str, Any] = session.get(LAST_TEST) or {}
    return tested if tested.get("model") == _model_id(now) else {}


def tested_at(tested: Mapping[str, Any]) -> datetime | None:
    return datetime.fromisoformat(tested["at"]) if tested else None


def has_passed(session: SessionBase, now: Installation) -> bool:
    """Return whether the model that is set passed its last test."""
    check = _model_check(last_test(session, now))
    return check is not None and check["state"] != "bad"


def failed_model(session: SessionBase, now: Installation) -> dict[str, Any] | None:
    """Return the failed check of the model that is set; None if it passed or answered since."""
    tested = last_test(session, now)
    check = _model_check(tested)
    if check is None or check["state"] != "bad":
        return None
    answered, at = usage.last_answer(now["RESEARCH_MODEL"]), tested_at(tested)
    return None if answered and at and answered > at else shown_check(check)


def _model_check(tested: Mapping[str, Any]) -> dict[str, str] | None:
    return next((each for each in tested.get("checks", ()) if each["name"] == "Model"), None)


def result_of(tested: Mapping[str, Any]) -> str:
    """Return the result of a whole test in words."""
    states = [each["state"] for each in tested.get("checks", ())]
    if "bad" in states:
        return gettext("Some checks failed")
    if limits := states.count("fair"):
        text = ngettext("Works, with %(n)s limit", "Works, with %(n)s limits", limits)
        return text % {"n": words.format_number(limits)}
    return gettext("All checks passed")


def shown_check(check: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a check as the Setup page shows them."""
    is_later = check["name"] == "Verifier" and check["state"] == "idle"
    now = gettext("“Test the model on the examples” below tests it now.")
    return {
        "name": worded(check["name"]),
        "state": words.TESTED_LATER if is_later else words.CHECK[check["state"]],
        "found": _without_variables(worded(check["found"])),
        "advice": now if is_later else _without_variables(worded(check["advice"])),
    }


def _without_variables(text: str) -> str:
    """Return a text without the variables that it names after the labels of fields."""
    return re.sub(rf" \((?:{'|'.join(setting_names())})(?:=\w+)?\)", "", text)


def _model_id(now: Installation) -> str:
    """Return a digest of the model and its server, which tells no key."""
    told = json.dumps([*(now[name] for name in SERVER), now["RESEARCH_MODEL"]])
    return salted_hmac(LAST_TEST, told).hexdigest()
