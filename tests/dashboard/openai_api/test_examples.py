"""The examples of `docs/api.md` run as they are written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.browser.serving import Server

pytestmark = [pytest.mark.subprocess, pytest.mark.slow]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"
# "```sh\ncurl …\n```"
EXAMPLE = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.requirement("F20")
def test_every_example_succeeds(server: Server, token: str, tmp_path: Path) -> None:
    examples = EXAMPLE.findall(PAGE.read_text())
    assert len(examples) > 5
    settings = {"PATH": "/usr/bin:/bin", "PLUMBLINE": server.url, "TOKEN": token}
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input="\n".join(examples),
        env=settings,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}"
    assert "event: progress" in done.stdout and "event: response.completed" in done.stdout
    assert "lives for about 600 years" in done.stdout.replace("**", "")
