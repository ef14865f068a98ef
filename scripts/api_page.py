"""Generate `docs/api-reference.md` from the OpenAPI description: `python -m scripts.api_page`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api-reference.md"
INTRODUCTION = """\
# API reference

Written by `python -m scripts.api_page` from the OpenAPI description, which a server publishes at
`/api/v1/openapi.json`. [HTTP API](api.md) shows how the operations are used together.

Every operation takes a token (`Authorization: Bearer TOKEN`) or the session of a signed-in browser.
GET needs the scope *read*, everything else *write*.
"""
PREFIX = "#/components/schemas/"
METHODS = ("get", "post", "put", "patch", "delete")


def main() -> None:
    PAGE.write_text(page(description()))


def description() -> dict[str, Any]:
    """Return the OpenAPI description as a server gives it."""
    from dashboard.api.app import api

    return dict(api.get_openapi_schema(path_prefix="/api/v1/"))


def page(described: dict[str, Any]) -> str:
    schemas = described["components"]["schemas"]
    parts = [INTRODUCTION, *_errors(described)]
    tag = ""
    for path, operations in described["paths"].items():
        for method in (each for each in METHODS if each in operations):
            operation = operations[method]
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                parts.append(f"## {tag.capitalize()}\n")
            parts += _operation(method, path, operation)
    parts.append("## Objects\n")
    for name in sorted(schemas):
        parts += _object(name, schemas[name])
    return "\n".join(parts)


def _errors(described: dict[str, Any]) -> Iterator[str]:
    """Return the statuses of errors once, as all operations share them."""
    yield "## Errors\n"
    yield "The body of an error is a [`Problem`](#problem), as `application/problem+json`.\n"
    yield "| status | meaning |\n| --- | --- |"
    told: dict[str, str] = {}
    for operations in described["paths"].values():
        for operation in (operations[each] for each in METHODS if each in operations):
            responses = operation["responses"].items()
            told |= {code: each["description"] for code, each in responses if int(code) >= 400}
    for code in sorted(told, key=int):
        yield f"| {code} | {_cell(told[code])} |"
    yield ""


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {operation['summary']}\n"
    yield f"`{method.upper()} {path}`\n"
    if operation.get("description"):
        yield f"{' '.join(operation['description'].split())}\n"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "| parameter | in | type | |\n| --- | --- | --- | --- |"
        for each in parameters:
            needed = "Required. " if each.get("required") else ""
            meaning = f"{needed}{each.get('description', '')}"
            row = (f"`{each['name']}`", each["in"], _type(each["schema"]), meaning)
            yield f"| {' | '.join(_cell(part) for part in row)} |"
        yield ""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body (`{kind}`): {_type(content.get('schema', {}))}\n"
    for code, response in operation["responses"].items():
        if int(code) < 400:
            kinds = response.get("content", {})
            told = [f"{_type(each.get('schema', {}))} (`{kind}`)" for kind, each in kinds.items()]
            yield f"Status {code}: {', '.join(told) or response['description']}\n"


def _object(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    if schema.get("description"):
        yield f"{' '.join(schema['description'].split())}\n"
    properties = schema.get("properties", {})
    if not properties:
        yield f"{_type(schema)}\n"
        return
    yield "| field | type | |\n| --- | --- | --- |"
    for field, each in properties.items():
        needed = "Required. " if field in schema.get("required", ()) else ""
        told = f"{needed}{each.get('description', '')}"
        yield f"| {' | '.join(_cell(part) for part in (f'`{field}`', _type(each), told))} |"
    yield ""


def _type(schema: dict[str, Any]) -> str:
    """Return a schema in words, with links to named objects."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        return f"[{name}](#{name.lower()})"
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[joined]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    more = schema.get("additionalProperties")
    if kind == "object" and isinstance(more, dict) and more:
        return f"object of {_type(more)}"
    bounds = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "from"),
            ("maximum", "to"),
            ("exclusiveMinimum", "above"),
            ("maxLength", "at most"),
            ("maxItems", "at most"),
        )
        if key in schema
    ]
    default = schema.get("default")
    bounds += [f"default {default}"] if default not in (None, "", [], {}) else []
    return f"{kind} ({', '.join(bounds)})" if bounds else str(kind)


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
