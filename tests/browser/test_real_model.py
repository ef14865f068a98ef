"""A run with a small real model, watched to its end in the browser.

Its answers mean little; that the page follows them to an honest end is what counts.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, serving
from tests.browser.serving import Server, free_port
from tests.support.installation import Installation

SERVER, MODEL = os.environ.get("LLAMA_SERVER"), os.environ.get("LOCAL_MODEL_FILE")
LONGEST_MILLISECONDS = 240_000

pytestmark = pytest.mark.skipif(
    not (SERVER and MODEL), reason="LLAMA_SERVER and LOCAL_MODEL_FILE name no small real model"
)


@pytest.fixture
def real_model() -> Iterator[str]:
    """The address of a model server on loopback."""
    port = free_port()
    command = [str(SERVER), "-m", str(MODEL), "--host", "127.0.0.1", "--port", str(port)]
    options = ["-c", "4096", "-n", "600", "-t", "2", "-np", "1", "--jinja"]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def wait_for(url: str) -> None:
    for _ in range(100):
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{url} does not answer")


@pytest.fixture
def real_server(bare_installation: Installation, real_model: str) -> Iterator[Server]:
    settings = {
        "OPENAI_BASE_URL": real_model,
        "OPENAI_API_KEY": "none",
        "RESEARCH_MODEL": "small",
        "MAX_LLM_CALLS": "8",
        "MAX_SECONDS": "60",
    }
    yield from serving(replace(bare_installation, settings=settings))


def test_a_run_with_a_real_model_is_watched_to_its_end(
    real_server: Server, open_page: Open
) -> None:
    page = open_page(real_server)
    page.get_by_role("button", name="How to make scrambled eggs?").click()
    page.wait_for_url("**/runs/*/")
    page.evaluate("window.notReloaded = true")
    expect(page.locator(".now")).to_be_visible()
    expect(page.locator(".report, .outcome .card, .problem-box[role=alert]").first).to_be_visible(
        timeout=LONGEST_MILLISECONDS
    )
    expect(page.locator(".run-foot")).to_contain_text("model call")
    expect(page.locator(".run-foot")).to_contain_text("small")
    assert page.evaluate("window.notReloaded === true")
