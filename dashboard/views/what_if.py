"""What other thresholds would have changed: of one run, and over many for admins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.contexts.run import run_head
from dashboard.forms.form_errors import by_form
from dashboard.forms.knobs import as_text
from dashboard.queries import queries
from dashboard.stored_texts import lazy_worded, worded
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.models import Run
from research.services import what_if
from research.services.errors import ServiceError
from research.services.what_if import ThresholdEffect
from research.worker.replay import Replay

RUNS = 50
SECONDS = 10.0
"""Maximum duration of one request that replays runs; the rest is left to the next one."""

admin_only = user_passes_test(lambda user: user.is_staff)


@never_cache
@require_GET
def show_run(request: HttpRequest, public_id: str) -> HttpResponse:
    """Replay a run with the thresholds of the query, if there are any."""
    run = queries.find_run(request.user, public_id)
    if not what_if.can_replay(run):
        raise Http404
    form = WhatIfForm(ResearchConfig.model_validate(run.config), request.GET or None)
    context = {"run": run_head(run), "form": form}
    if form.is_bound and form.is_valid():
        try:
            replay = what_if.replay_with(request.user, run, form.changes())
        except (ConfigError, ServiceError) as error:
            form.add_error(None, worded(str(error)))
        else:
            context["replay"] = replay_context(run, replay)
    status = 422 if form.errors else 200
    return render(request, "dashboard/what_if_run.html", context, status=status)


@admin_only
@never_cache
@require_GET
def show_runs(request: HttpRequest) -> HttpResponse:
    context = effects_context(what_if.threshold_effects(RUNS))
    context |= {"page": "work", "runs": RUNS, "missing": len(what_if.missing_runs(RUNS))}
    return render(request, "dashboard/what_if.html", context)


@admin_only
@never_cache
@by_form
def replay_runs(request: HttpRequest) -> HttpResponse:
    """Store the replays that are missing, as many as fit into `SECONDS`."""
    left = what_if.store_replays(request.user, RUNS, SECONDS)
    if left:
        messages.info(
            request,
            ngettext(
                "%(n)s run left; replay again to continue.",
                "%(n)s runs left; replay again to continue.",
                left,
            )
            % {"n": left},
        )
    return redirect("what_if")


WIDTH, HEIGHT = 480, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 470, 10, 176
GRID = (0, 25, 50, 75, 100)
LISTED = 20


def replay_context(run: Run, replay: Replay) -> dict[str, Any]:
    """Return figures of the run and of its replay side by side, and what was lost."""
    before, after = replay.run_used, replay.used
    money = words.format_usd
    kept = replay.run_evidence - len(replay.evidence_lost)
    return {
        "lines": [
            _line(gettext("Rounds"), run.round, len(replay.rounds)),
            _line(gettext("Model calls"), before.llm_calls, after.llm_calls),
            _line(
                gettext("Tokens"),
                words.format_number(before.tokens),
                words.format_number(after.tokens),
            ),
            _line(gettext("Cost"), money(before.cost_usd), money(after.cost_usd)),
            _line(gettext("Searches"), before.searches, after.searches),
            _line(gettext("Pages"), before.fetches, after.fetches),
            _line(gettext("Evidence of the run"), replay.run_evidence, kept),
        ],
        "ended": worded(run.termination_text or ""),
        "would_end": worded(replay.termination_text or ""),
        "journal_ends": replay.journal_ends,
        "lost": replay.evidence_lost[:LISTED],
        "more_lost": len(replay.evidence_lost) - LISTED,
        "identical": replay.identical,
        "reused": len(replay.divergences),
    }


def _line(name: str, before: object, after: object) -> dict[str, Any]:
    return {"name": name, "before": before, "after": after, "differs": before != after}


# --- many runs -------------------------------------------------------------------------------


def effects_context(effects: Sequence[ThresholdEffect]) -> dict[str, Any]:
    """Return the table of effects, the chart, and a sentence about the best trade."""
    shown = [each for each in effects if each.runs]
    has_costs = bool(shown) and all(each.cost_saved is not None for each in shown)
    saved = {
        each.threshold: (each.cost_saved or 0.0) if has_costs else each.calls_saved
        for each in shown
    }
    what = gettext("cost") if has_costs else gettext("calls")
    return {
        "effects": [_effect_line(each) for each in effects],
        "what_saved": what,
        "chart": effects_chart(shown, saved),
        "sentence": best_trade(shown, saved, what),
    }


def best_trade(effects: Sequence[ThresholdEffect], saved: dict[float, float], what: str) -> str:
    """Return a sentence on the threshold with the largest difference of savings and losses."""
    gains = [each for each in effects if saved[each.threshold] > each.evidence_lost]
    if not gains:
        return gettext("No other threshold would have saved a larger share than it lost.")
    best = max(gains, key=lambda each: saved[each.threshold] - each.evidence_lost)
    sentence = gettext(
        "Threshold %(threshold)s would have saved %(saved)s of %(what)s "
        "and lost %(lost)s of evidence."
    )
    return sentence % {
        "threshold": words.format_number(best.threshold),
        "saved": words.format_percent(saved[best.threshold]),
        "what": what,
        "lost": words.format_percent(best.evidence_lost),
    }


def _effect_line(effect: ThresholdEffect) -> dict[str, Any]:
    cost = effect.cost_saved
    none = "–"
    return {
        "threshold": words.format_number(effect.threshold),
        "runs": effect.runs,
        "left_out": effect.left_out,
        "cost": none if cost is None or not effect.runs else words.format_percent(cost),
        "calls": words.format_percent(effect.calls_saved) if effect.runs else none,
        "evidence": words.format_percent(effect.evidence_lost) if effect.runs else none,
    }


def effects_chart(
    effects: Sequence[ThresholdEffect], saved: dict[float, float]
) -> dict[str, Any] | None:
    """Return two lines over the thresholds as points of an SVG; None for fewer than two."""
    if len(effects) < 2:
        return None
    low, high = effects[0].threshold, effects[-1].threshold
    across = {
        each.threshold: round(LEFT + (RIGHT - LEFT) * (each.threshold - low) / (high - low), 1)
        for each in effects
    }
    saved_points = [(across[each.threshold], _up(saved[each.threshold])) for each in effects]
    lost_points = [(across[each.threshold], _up(each.evidence_lost)) for each in effects]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "label_y": HEIGHT - 6,
        "saved": _polyline(saved_points),
        "lost": _polyline(lost_points),
        "points": saved_points,
        "lost_points": lost_points,
        "grid": [{"y": _up(share / 100), "text": f"{share} %"} for share in GRID],
        "ticks": [
            {"x": across[e.threshold], "text": words.format_number(e.threshold)} for e in effects
        ],
    }


def _polyline(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _up(share: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)


LABELS = {
    "adaptive_quality_threshold": _("Target score"),
    "adaptive_max_depth": _("Maximum rounds"),
    "min_improvement_threshold": _("Smallest useful gain"),
    "min_novelty_threshold": _("Smallest share of new words"),
    "min_evidence_records": _("Minimum evidence"),
}


class WhatIfForm(forms.Form):
    """Fields of the thresholds, with the values of the recorded run as initial values."""

    def __init__(self, recorded: ResearchConfig, data: object = None) -> None:
        super().__init__(data)
        for name, label in LABELS.items():
            info = ResearchConfig.model_fields[name]
            self.fields[name] = forms.CharField(
                label=label,
                help_text=lazy_worded(info.description or ""),
                required=False,
                max_length=100,
                initial=as_text(getattr(recorded, name)),
                widget=forms.TextInput(attrs={"inputmode": "decimal"}),
            )

    def changes(self) -> dict[str, str]:
        """Return the values that differ from the run's, by name of the knob."""
        given = {name: self.cleaned_data[name].strip() for name in LABELS}
        return {
            name.upper(): value
            for name, value in given.items()
            if value and value != self.fields[name].initial
        }
