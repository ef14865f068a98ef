"""Processes killed in the middle of migrations, uploads, indexing and exports."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Timer
from typing import Any

import psycopg

from bench.scale.fleet import Fleet, Member, Trial
from bench.scale.parts import Figures
from bench.scale.postgres import own_server
from bench.scale.trials import DATABASE, Extent, create_database, site
from bench.world.running import running_world

STEP_SECONDS = 0.02
PATIENCE_SECONDS = 120.0
MIGRATION_KILLS = 4

FILES, FILE_BYTES = 60, 60_000
KILLED_EVERY = 10
"""One upload in so many is cut off by a kill in the middle of its body."""

INDEXING_KILLS = 3
EXPORTS = ("md", "html", "docx", "pdf", "json")
LATEST_SECONDS = 0.15
"""Within which a process that writes an export is killed."""

MIGRATED = "SELECT count(*) FROM django_migrations"
STORED = "SELECT name, sha256 FROM research_document"
INDEXING = "SELECT done, total, indexed_revision = revision FROM research_collection"
INDEXED = "SELECT count(DISTINCT path), count(*) FROM plumbline_documents.documents"


def migrating(extent: Extent) -> Figures:
    """Kill the first processes of an installation at several points of its migrations."""
    with (
        running_world(1) as running,
        tempfile.TemporaryDirectory(prefix="plumbline-scale-") as home,
        own_server() as server,
    ):
        for name in (DATABASE, "whole"):
            create_database(server, name)
        Fleet(running, Path(home), server.url("whole")).run("manage.py", "migrate")
        with psycopg.connect(server.url("whole")) as whole:
            [expected] = whole.execute(MIGRATED).fetchone() or (0,)
        with Fleet(running, Path(home), server.url(DATABASE)) as fleet:
            member, kills = fleet.add_worker(), 0
            for turn in range(MIGRATION_KILLS):
                wanted = expected * (turn + 1) // (MIGRATION_KILLS + 1)
                member.start()
                _until(lambda wanted=wanted: _migrated(fleet) >= wanted)
                member.kill()
                kills += _migrated(fleet) < expected
            fleet.start()
            applied = _migrated(fleet)
            fleet.run("manage.py", "migrate", "--check")
    return {"migrating_missing": expected - applied, "migrating_kills": kills}


def requests(extent: Extent) -> Figures:
    """Kill the web process during uploads and exports, and the worker during indexing."""
    with site(extent, web=1, workers=1, runs=1) as at:
        killing = _Killing(at.fleet)
        Trial(at.fleet).run()  # which starts the fleet and completes a run to be exported
        return {**killing.uploads(), **killing.indexing(), **killing.exports()}


class _Killing:
    """A fleet of one web process and one worker, with a client of its API."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.chance = random.Random(1)
        [(self.run, self.token)] = fleet.tokens.items()

    @property
    def web(self) -> Member:
        return self.fleet.web[0]

    def uploads(self) -> Figures:
        self.fleet.workers[0].kill()
        status, body = self._ask("POST", "/collections", json.dumps({"name": "Books"}).encode())
        assert status == 201, body
        self.collection = json.loads(body)["id"]
        wanted = {f"book-{number}.txt": self._text(number) for number in range(FILES)}
        kills = 0
        for number, (name, text) in enumerate(wanted.items()):
            if number % KILLED_EVERY == KILLED_EVERY - 1:
                self._cut_off(name, text)
                kills += 1
            status, body = self._upload(name, text)
            assert status == 200, body
        sums = {name: _sum(text) for name, text in wanted.items()}
        folder = Path(self.fleet.environment["PLUMBLINE_HOME"], "documents", self.collection)
        rows = dict(self.fleet.rows(STORED) or ())
        kept = {path.name: _sum(path.read_bytes()) for path in folder.iterdir()}
        lost = sum(rows.get(name) != sha or kept.get(name) != sha for name, sha in sums.items())
        return {
            "uploads_lost": lost,
            "uploads_left_over": len((rows.keys() | kept.keys()) - sums.keys()),
            "uploads_kills": kills,
        }

    def indexing(self) -> Figures:
        worker, kills = self.fleet.workers[0], 0
        for turn in range(INDEXING_KILLS):
            worker.start()
            enough = FILES * turn // (INDEXING_KILLS + 1)
            _until(lambda enough=enough: self._indexed()[0] > enough)
            kills += not self._indexed()[2]
            worker.kill()
        worker.start()
        _until(lambda: bool(self._indexed()[2]))
        [(paths, rows)] = self.fleet.rows(INDEXED) or [(0, 0)]
        return {
            "indexing_lost": FILES - paths,
            "indexing_twice": rows - paths,
            "indexing_kills": kills,
        }

    def exports(self) -> Figures:
        lost = kills = 0
        for extension in EXPORTS:
            path = f"/runs/{self.run}/exports/{extension}"
            before = self._ask("GET", path)
            killer = Timer(self.chance.uniform(0.01, LATEST_SECONDS), self.web.kill)
            killer.start()
            with suppress(OSError, HTTPException):
                self._ask_once("GET", path)
            killer.join()
            kills += 1
            self.web.start()
            after = self._ask("GET", path)
            lost += before[0] != 200 or (after[0], len(after[1])) != (200, len(before[1]))
        return {"exports_lost": lost, "exports_kills": kills}

    def _indexed(self) -> tuple[Any, ...]:
        return (self.fleet.rows(INDEXING) or [(0, 0, False)])[0]

    def _text(self, number: int) -> bytes:
        words = (f"word{self.chance.randrange(10_000)}" for _ in range(FILE_BYTES // 9))
        return f"Book {number}. {' '.join(words)}.\n".encode()

    def _upload(self, name: str, text: bytes) -> tuple[int, bytes]:
        return self._ask("POST", f"/collections/{self.collection}/files", *_form(name, text))

    def _cut_off(self, name: str, text: bytes) -> None:
        """Kill the web process when half of a body has been sent, and start it again."""
        body, kind = _form(name, text)
        client = self._client()
        client.putrequest("POST", f"/api/v1/collections/{self.collection}/files")
        for header, value in self._headers(kind, len(body)).items():
            client.putheader(header, value)
        client.endheaders()
        client.send(body[: len(body) // 2])
        time.sleep(self.chance.uniform(0, LATEST_SECONDS))
        self.web.kill()
        client.close()
        self.web.start()

    def _client(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.web.port, timeout=60)

    def _headers(self, kind: str, length: int) -> dict[str, str]:
        authorization = f"Bearer {self.token}"
        return {
            "Authorization": authorization, "Content-Type": kind, "Content-Length": str(length)
        }  # fmt: skip

    def _ask(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes]:
        """Return the answer, once the process has started."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._ask_once(method, path, body, kind)
            except (OSError, HTTPException):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _ask_once(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, bytes]:
        client = self._client()
        try:
            client.request(method, f"/api/v1{path}", body, self._headers(kind, len(body)))
            answer = client.getresponse()
            return answer.status, answer.read()
        finally:
            client.close()


def _form(name: str, text: bytes) -> tuple[bytes, str]:
    """Return a form with one file, and its content type."""
    edge = "an-edge-that-no-file-has"
    head = f'Content-Disposition: form-data; name="files"; filename="{name}"'
    lines = [f"--{edge}", head, "Content-Type: text/plain", "", ""]
    body = "\r\n".join(lines).encode() + text + f"\r\n--{edge}--\r\n".encode()
    return body, f"multipart/form-data; boundary={edge}"


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _migrated(fleet: Fleet) -> int:
    """Return how many migrations are applied."""
    [(number,)] = fleet.rows(MIGRATED) or [(0,)]
    return int(number)


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("a process did not get far enough to be killed")
        time.sleep(STEP_SECONDS)
