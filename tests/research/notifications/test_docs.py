"""The check of signatures in `docs/api.md` accepts our requests and no others."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from research.notifications.channels import new_secret, signed_headers

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"
# "```python\nimport …\n```"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


SENT = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def names() -> dict[str, Any]:
    """What the example defines, at the moment of `SENT`."""
    [example] = EXAMPLE.findall(PAGE.read_text())
    names: dict[str, Any] = {}
    exec(example, names)
    names["time"] = SimpleNamespace(time=SENT.timestamp)
    return names


def test_the_example_checks_signatures(names: dict[str, Any]) -> None:
    is_genuine = names["is_genuine"]
    old, new = new_secret(), new_secret()
    headers = signed_headers([new, old], "msg_1", SENT, "é")
    assert is_genuine(old, headers, "é".encode()) and is_genuine(new, headers, "é".encode())
    assert not is_genuine(new_secret(), headers, "é".encode())
    assert not is_genuine(new, headers, b"e")
    assert not is_genuine(new, headers | {"webhook-timestamp": "1"}, "é".encode())


@pytest.mark.parametrize(
    ("age", "accepted"), [(0, True), (299, True), (301, False), (-301, False), (86_400, False)]
)
def test_the_example_rejects_old_timestamps(
    names: dict[str, Any], age: int, accepted: bool
) -> None:
    secret = new_secret()
    headers = signed_headers([secret], "msg_1", SENT - timedelta(seconds=age), "{}")
    assert names["is_genuine"](secret, headers, b"{}") is accepted
