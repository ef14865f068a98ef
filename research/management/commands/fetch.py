"""`manage.py fetch URL`: fetches one address as a run would, and prints the extracted text."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Fetches one address as a run would and shows its text."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, url: str, **options: Any) -> None:
        shown = asyncio.run(fetch_result(url))
        if options["json"]:
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=1))
        elif shown["refused"]:
            self.stderr.write(f"{url}: {shown['refused']}")
        else:
            self.stdout.write(f"{shown['title']}\n{shown['final_url']}\n\n{shown['text']}")
        if shown["refused"]:
            sys.exit(1)


async def fetch_result(url: str) -> dict[str, Any]:
    """Return the page; if it could not be fetched, `refused` contains the reason (else null)."""
    from research.engine.ports import FetchFailedError
    from research.runtime import tool_factory

    try:
        page = await tool_factory.web_fetch().fetch(url)
    except FetchFailedError as failure:
        empty = dict.fromkeys(
            ("final_url", "status", "content_type", "title", "text", "sha256"), None
        )
        return {"url": url, **empty, "status": failure.status, "refused": failure.reason}
    finally:
        await tool_factory.close_tools()
    return {
        "url": page.url,
        "final_url": page.final_url,
        "status": "read",
        "content_type": page.content_type,
        "title": page.title,
        "text": page.text,
        "sha256": page.sha256,
        "refused": None,
    }
