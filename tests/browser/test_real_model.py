"""A run with a small real model, watched to its end in the browser.

Its answers mean little; that the page follows them to an honest end is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, serving
from tests.browser.serving import Server
from tests.support.installation import Installation
from tests.support.real_model import needs_real_model, served

LONGEST_MILLISECONDS = 240_000

pytestmark = needs_real_model


@pytest.fixture
def real_model() -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def real_server(bare_installation: Installation, real_model: str) -> Iterator[Server]:
    settings = {
        "OPENAI_BASE_URL": real_model,
        "OPENAI_API_KEY": "none",
        "RESEARCH_MODEL": "small",
        "MAX_LLM_CALLS": "4",
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
