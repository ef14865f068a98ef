"""The documentation site is built without warnings, and its pages load nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

from scripts import api_page
from tests.support.installation import ROOT

FOREIGN = re.compile(r"(?:https?:)?//")
LOADED = ("//script/@src", "//img/@src", "//iframe/@src", "//link[not(@rel='canonical')]/@href")
IN_STYLES = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"](?:https?:)?//")


def test_the_reference_of_the_api_is_the_generated_one() -> None:
    written = api_page.PAGE.read_text()
    assert written == api_page.page(api_page.description()), "run: python -m scripts.api_page"


def test_every_operation_of_the_api_is_in_the_reference() -> None:
    written = api_page.PAGE.read_text()
    for path, operations in api_page.description()["paths"].items():
        for method in operations:
            assert f"`{method.upper()} {path}`" in written


@pytest.mark.subprocess
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    # a proxy that refuses connections: the build needs no network
    closed = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    environment = {**os.environ, **closed, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        tree = html.fromstring(page.read_bytes())
        loaded = [str(each) for path in LOADED for each in tree.xpath(path)]
        assert loaded and not [each for each in loaded if FOREIGN.match(each)], page
        # the theme would fetch a program from elsewhere to draw these
        assert not tree.xpath("//*[contains(@class, 'mermaid') and not(self::code)]"), page
    for style in tmp_path.rglob("*.css"):
        assert not IN_STYLES.search(style.read_text()), style
