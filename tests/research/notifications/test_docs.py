"""The check of signatures in `docs/api.md` accepts our requests and no others."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from research.notifications.channels import new_secret, signed_headers

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"
# "```python\nimport …\n```"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_example_checks_signatures() -> None:
    [example] = EXAMPLE.findall(PAGE.read_text())
    names: dict[str, Any] = {}
    exec(example, names)
    is_genuine = names["is_genuine"]
    old, new = new_secret(), new_secret()
    headers = signed_headers([new, old], "msg_1", datetime(2030, 1, 1, tzinfo=UTC), "é")
    assert is_genuine(old, headers, "é".encode()) and is_genuine(new, headers, "é".encode())
    assert not is_genuine(new_secret(), headers, "é".encode())
    assert not is_genuine(new, headers, b"e")
    assert not is_genuine(new, headers | {"webhook-timestamp": "1"}, "é".encode())
