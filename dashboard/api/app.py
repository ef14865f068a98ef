"""The API as one application: routers, errors and the OpenAPI description."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI

from dashboard.api import account, collections, results, runs, threads
from dashboard.api.auth import BearerToken, SignedIn
from dashboard.api.problems import CONTENT_TYPE, Problem, add_handlers
from dashboard.automation.api import schedules_router, webhooks_router

DESCRIPTION = (
    "Start, steer and read research runs. Send a token as `Authorization: Bearer TOKEN`. "
    "Errors are problems (RFC 9457); responses to requests with a valid token have `RateLimit-*` "
    "headers."
)
PROBLEMS = {
    "400": "The request can't be read.",
    "401": "There is no valid token.",
    "403": "The token lacks the scope, or the object belongs to another user.",
    "404": "There is no such object, or it belongs to another user.",
    "409": "The state of the object doesn't allow it.",
    "413": "The body is too large.",
    "422": "A value is invalid.",
    "429": "Too many requests.",
}
PROBLEM = {"$ref": "#/components/schemas/Problem"}


class PlumblineAPI(NinjaAPI):
    """Describes problems once for all operations instead of with each."""

    def get_openapi_schema(self, **options: Any) -> Any:
        schema = super().get_openapi_schema(**options)
        template = "#/components/schemas/{model}"
        problem = Problem.model_json_schema(ref_template=template)
        schema["components"]["schemas"] |= problem.pop("$defs", {}) | {"Problem": problem}
        for path in schema["paths"].values():
            for operation in path.values():
                for parameter in operation.get("parameters", ()):
                    parameter["schema"] = _without_null(parameter["schema"])
                for status, text in PROBLEMS.items():
                    told = {"description": text, "content": {CONTENT_TYPE: {"schema": PROBLEM}}}
                    operation["responses"].setdefault(status, told)
        return schema


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional parameter: it is left out rather than null."""
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(options) != 1:
        return schema
    kept = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return kept | options[0]


def build_api() -> PlumblineAPI:
    api = PlumblineAPI(
        title="Plumbline",
        version="1",
        description=DESCRIPTION,
        docs_url=None,
        auth=[BearerToken(), SignedIn()],
        urls_namespace="api",
    )
    api.add_router("/runs", runs.router)
    api.add_router("/runs", results.router)
    api.add_router("/runs", threads.following)
    api.add_router("/threads", threads.router)
    api.add_router("/collections", collections.router)
    api.add_router("/webhooks", webhooks_router)
    api.add_router("/schedules", schedules_router)
    api.add_router("", account.router)
    add_handlers(api)
    return api


api = build_api()
urlpatterns, _, _ = api.urls
for pattern in urlpatterns:
    # the API authenticates by itself, so that no page redirects to sign in
    pattern.callback.login_required = False
