"""The OpenAI-compatible endpoints as one application."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import NinjaAPI

from dashboard.api.auth import BearerToken
from dashboard.openai_api import chat, responses
from dashboard.openai_api.errors import add_handlers
from dashboard.openai_api.request import DEPTHS, find_depth, model_object

api = NinjaAPI(
    title="Plumbline for OpenAI clients",
    version="1",
    docs_url=None,
    openapi_url=None,
    auth=[BearerToken()],
    urls_namespace="openai",
)
api.add_router("", chat.router)
api.add_router("/responses", responses.router)
add_handlers(api)


@api.get("/models", summary="List the models")
def list_models(request: HttpRequest) -> dict[str, Any]:
    return {"object": "list", "data": [model_object(name) for name in DEPTHS]}


@api.get("/models/{name}", summary="Read a model")
def read_model(request: HttpRequest, name: str) -> dict[str, Any]:
    find_depth(name)
    return model_object(name)


urlpatterns, _, _ = api.urls
for pattern in urlpatterns:
    # authentication is by token only, so no page redirects to sign in
    pattern.callback.login_required = False
