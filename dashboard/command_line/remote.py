"""Runs and documents of a distant server, through its HTTP API, if a command names one."""

from __future__ import annotations

import builtins
import time
import uuid
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from django.core.management.base import CommandError

from dashboard.command_line.output import BadUseError
from dashboard.exports import FORMATS, Exported
from research.engine.records import ENDED, WAITING

TIMEOUT_SECONDS = 30.0
POLL_SECONDS = 1.0
RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0, 60.0)
"""Pauses between attempts to follow a run on a server that doesn't answer: five minutes."""
MOST_AT_ONCE = 100
TOO_MANY_REQUESTS = 429


class UnavailableError(CommandError):
    """The server can't be reached, or can't answer now; exit code 1."""


class AnswerLostError(UnavailableError):
    """A request that the server may have carried out."""


class Server:
    """One server and a token.

    Every method raises `BadUseError`, or `UnavailableError`, with a sentence for the user.
    """

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, **content: Any) -> httpx.Response:
        return _checked(self._send(method, path, self._headers, **content))

    def create(self, path: str, json: dict[str, Any]) -> dict[str, Any]:
        """Return what the server created; if its answer is lost, the same request is sent again."""
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4())}
        try:
            answer = self._send("POST", path, headers, json=json)
        except AnswerLostError:
            answer = self._send("POST", path, headers, json=json)
        return dict(_checked(answer).json())

    def _send(
        self, method: str, path: str, headers: dict[str, str], **content: Any
    ) -> httpx.Response:
        url = f"{self._address.rstrip('/')}/api/v1/{path}"
        try:
            return httpx.request(method, url, headers=headers, timeout=TIMEOUT_SECONDS, **content)
        except (httpx.ReadTimeout, httpx.ReadError, httpx.RemoteProtocolError) as error:
            raise AnswerLostError(f"{self._address} does not answer: {error}.") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise BadUseError(f"{self._address} is no address of a server: {error}") from None
        except httpx.HTTPError as error:
            raise UnavailableError(f"{self._address} does not answer: {error}.") from None

    def pages(self, path: str, limit: int) -> builtins.list[dict[str, Any]]:
        """Return up to `limit` items of a list that comes in pages."""
        found: builtins.list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while len(found) < limit:
            size = min(limit - len(found), MOST_AT_ONCE)
            page = self.ask("GET", path, params={"limit": size, **cursor}).json()
            found += page["items"]
            if not page["next_cursor"]:
                break
            cursor = {"cursor": page["next_cursor"]}
        return found


class RemoteRuns:
    """The same methods as `LocalRuns`, except executing a run here."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, limit: int, text: str = "") -> builtins.list[dict[str, Any]]:
        if text:
            raise BadUseError("A server lists runs without a text; leave it out.")
        return [
            {
                "id": run["id"],
                "status": run["status"],
                "score": run["quality_score"],
                "created_at": _to_the_second(run["created_at"]),
                "question": run["question"],
            }
            for run in self._server.pages("runs", limit)
        ]

    def show(self, public_id: str) -> dict[str, Any]:
        return self._get(f"{_run(public_id)}/record")

    def export(self, public_id: str, form: str, *, with_quotes: bool) -> Exported:
        wanted = "" if with_quotes else "?quotes=false"
        answer = self._server.ask("GET", f"{_run(public_id)}/exports/{form}{wanted}")
        content_type = answer.headers["content-type"]
        return Exported(answer.content, f"{public_id}.{FORMATS[form].extension}", content_type)

    def resume(self, public_id: str) -> str:
        kind = "retry" if self._get(_run(public_id))["status"] == "stalled" else "resume"
        return self._tell(public_id, kind)

    def cancel(self, public_id: str) -> str:
        return self._tell(public_id, "cancel")

    def delete(self, public_id: str) -> None:
        self._server.ask("DELETE", _run(public_id))

    def research(
        self, question: str, knobs: dict[str, Any], report: Callable[[str], None]
    ) -> dict[str, Any]:
        """Start a run that asks nothing, and return its record once it has ended or waits.

        What can be read from it is asked for again where the server doesn't answer for a while.
        """
        asked = {"question": question, "settings": knobs, "ask_first": False}
        run = self._server.create("runs", asked)
        report(f"Run {run['id']}")
        shown = ""
        while run["status"] not in ENDED | WAITING:
            time.sleep(POLL_SECONDS)
            run = self._get_patiently(_run(run["id"]), report)
            action = run["progress"]["action"]
            if action and action["text"] != shown:
                shown = action["text"]
                report(shown)
        return self._get_patiently(f"{_run(run['id'])}/record", report)

    def _tell(self, public_id: str, kind: str) -> str:
        self._server.ask("POST", f"{_run(public_id)}/commands", json={"kind": kind})
        return str(self._get(_run(public_id))["status"])

    def _get_patiently(self, path: str, report: Callable[[str], None]) -> dict[str, Any]:
        """Read from the server, again after pauses if it is unavailable; raise the last reason."""
        for pause in RETRY_SECONDS:
            try:
                return self._get(path)
            except UnavailableError as reason:
                report(f"{reason} Trying again in {pause:.0f} s.")
                time.sleep(pause)
        return self._get(path)

    def _get(self, path: str) -> dict[str, Any]:
        return dict(self._server.ask("GET", path).json())


class RemoteDocuments:
    """The same methods as `LocalDocuments`; folders of the server can't be added."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self) -> builtins.list[dict[str, Any]]:
        return builtins.list(self._server.ask("GET", "collections").json()["items"])

    def add(self, paths: Sequence[Path], name: str) -> dict[str, Any]:
        """Upload files; the server indexes them on its own."""
        unusable = [str(path) for path in paths if not path.is_file()]
        if unusable:
            raise BadUseError(f"{unusable[0]} is not a file; a server takes files only.")
        wanted = name or "Documents"
        named = [row for row in self.list() if row["name"] == wanted]
        row = named[0] if named else self._server.create("collections", {"name": wanted})
        with ExitStack() as stack:
            files = [("files", (p.name, stack.enter_context(p.open("rb")))) for p in paths]
            done = self._server.ask("POST", f"collections/{row['id']}/files", files=files).json()
        now = self._server.ask("GET", f"collections/{row['id']}").json()
        return {**now, "refused": done["refused"]}

    def search(self, query: str, names: Sequence[str], limit: int) -> builtins.list[dict[str, Any]]:
        ids = [row["id"] for row in self._named(names)] if names else []
        asked = {"q": query, "collection": ids, "limit": limit}
        found = self._server.ask("GET", "collections/search", params=asked).json()["items"]
        return [
            {"title": each["title"], "section": each["section"], "url": each["url"],
             "quote": each["text"]}
            for each in found
        ]  # fmt: skip

    def remove(self, name: str, file: str) -> None:
        [row] = self._named([name])
        end = f"/files/{quote(file, safe='')}" if file else ""
        self._server.ask("DELETE", f"collections/{row['id']}{end}")

    def _named(self, names: Sequence[str]) -> builtins.list[dict[str, Any]]:
        rows = self.list()
        unknown = [name for name in names if name not in {row["name"] for row in rows}]
        if unknown:
            raise BadUseError(f"There is no collection {unknown[0]}.")
        return [row for row in rows if not names or row["name"] in names]


def _run(public_id: str) -> str:
    return f"runs/{quote(public_id, safe='')}"


def _to_the_second(time: str) -> str:
    return datetime.fromisoformat(time).isoformat(timespec="seconds")


def _checked(answer: httpx.Response) -> httpx.Response:
    """Return the answer if it is a success, else raise its reason."""
    if answer.is_success:
        return answer
    if answer.is_server_error or answer.status_code == TOO_MANY_REQUESTS:
        raise UnavailableError(_detail(answer))
    raise BadUseError(_detail(answer))


def _detail(answer: httpx.Response) -> str:
    """Return the reason that a problem gives, else its status."""
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("detail"), str):
        return str(problem["detail"])
    if answer.is_server_error:
        return f"The server answered {answer.status_code}."
    return f"The server answered {answer.status_code}; is it Plumbline's address?"


def add_place(parser: ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", default="", help="work on this server")
    parser.add_argument("--token", default="", help="a token of the server (page “API tokens”)")


def chosen_server(options: dict[str, Any]) -> Server | None:
    """Return the server that is named, or None for this installation."""
    if not options["server"]:
        if options["token"]:
            raise BadUseError("--token belongs to a --server.")
        return None
    if not options["token"]:
        raise BadUseError("--server needs --token; make one on its page “API tokens”.")
    return Server(options["server"], options["token"])
