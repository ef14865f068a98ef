"""The caller: token, usage, and the settings that a run may have."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from dashboard.api.asking import source_names
from dashboard.api.schemas import CallerOut, KnobOut, SettingsOut, TokenOut, UsageOut
from dashboard.queries.usage import usage_since
from research.engine.config import ResearchConfig
from research.engine.knobs import knob_extra
from research.runtime.installation import current_installation

router = Router(tags=["account"])
Days = Annotated[int, Query(ge=1, le=366)]


@router.get("/me", response=CallerOut, summary="Read who calls, and with which token")
def read_caller(request: HttpRequest) -> CallerOut:
    row = request.auth.token
    token = row and TokenOut(
        name=row.name,
        scopes=row.scopes,
        max_cost_usd=row.max_cost_usd,
        expires_at=row.expires_at,
    )
    return CallerOut(user=request.auth.user.get_username(), token=token)


@router.get("/settings", response=SettingsOut, summary="List sources and settings of a run")
def list_settings(request: HttpRequest) -> SettingsOut:
    defaults = current_installation().defaults.model_dump(mode="json")
    knobs = [
        KnobOut(
            name=name,
            value=defaults[name],
            unit=knob_extra(info)["unit"],
            help=str(info.description),
        )
        for name, info in ResearchConfig.model_fields.items()
    ]
    return SettingsOut(sources=source_names(request.auth), settings=knobs)


@router.get("/usage", response=UsageOut, summary="Sum up what your runs used")
def read_usage(request: HttpRequest, days: Days = 30) -> UsageOut:
    """Counts your runs of the last `days` days."""
    return UsageOut(days=days, **vars(usage_since(request.auth.user, days)))
