"""An embedding server whose vectors say which subjects a text names."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.serving import LoopbackServer, Reply, json_reply, path_of

SUBJECTS = (
    ("mend", "repair", "glue", "sand"),
    ("boat", "dinghy", "vessel", "hull"),
    ("money", "price", "cost", "crowns"),
    ("sleep", "night", "rest", "bed"),
)


class EmbeddingServer(LoopbackServer):
    """Answers `/v1/embeddings`; `asked` are the texts of each request, `refusal` another answer.

    Requests after the first `fail_after` get an error.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []
        self.models: list[str] = []
        self.refusal: Reply | None = None
        self.fail_after: int | None = None

    def reply(self, path: str, body: bytes) -> Reply:
        if path_of(path) != "/v1/embeddings":
            return json_reply({"error": {"message": "no such page"}}, 404)
        request = json.loads(body)
        with self.lock:
            self.asked.append(request["input"])
            self.models.append(request["model"])
        if self.fail_after is not None and len(self.asked) > self.fail_after:
            return json_reply({"error": {"message": "no"}}, 500)
        if self.refusal:
            return self.refusal
        data = [
            {"object": "embedding", "index": n, "embedding": numbers_of(text)}
            for n, text in enumerate(request["input"])
        ]
        return json_reply({"object": "list", "data": data, "model": request["model"]})

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.asked for text in batch]


def numbers_of(text: str) -> list[float]:
    folded = text.casefold()
    return [0.1, *(float(any(word in folded for word in each)) for each in SUBJECTS)]


@pytest.fixture
def embedding_server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server
