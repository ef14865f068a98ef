from __future__ import annotations

import io
import threading
import webbrowser

import pytest
from pytest_django import Settings

from config import environment
from dashboard.management.commands import serve


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[str]:
    """Addresses that were opened, on a machine with a display and a browser."""
    found: list[str] = []
    settings.OPEN_BROWSER = settings.HAS_DISPLAY = True
    settings.RESEARCH_MODEL = ""
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser("xdg-open"))
    monkeypatch.setattr(serve, "open_browser", found.append)
    return found


def announced(output: io.StringIO, host: str = "127.0.0.1") -> list[str]:
    serve.Command(stdout=output).announce(host, 8001)
    return output.getvalue().splitlines()


@pytest.mark.django_db
def test_a_terminal_is_told_what_to_do_next_and_the_link_is_opened(opened: list[str]) -> None:
    lines = announced(Terminal())
    assert lines[0].split()[-1] == opened[0] and "/sign-in/" in opened[0]
    assert [line[12:15] for line in lines[-3:]] == ["1. ", "2. ", "3. "]
    assert "opens in your browser" in lines[-3] and "Connect a model" in lines[-1]


@pytest.mark.django_db
def test_a_log_gets_no_steps_and_no_browser(opened: list[str]) -> None:
    assert announced(io.StringIO())[-1] == "Stop with Ctrl-C."
    assert announced(Terminal(), "0.0.0.0")[-1] == "Stop with Ctrl-C."
    assert opened == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["OPEN_BROWSER", "HAS_DISPLAY"])
def test_no_browser_is_opened_where_none_is_wanted_or_shown(
    opened: list[str], settings: Settings, name: str
) -> None:
    setattr(settings, name, False)
    assert "It works once." in announced(Terminal())[-3] and opened == []


def test_a_text_browser_is_left_alone(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert serve.has_browser()
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    assert not serve.has_browser()


def test_the_browser_is_opened_beside_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.set())
    serve.open_browser("http://127.0.0.1:8000/")
    assert asked.wait(5)


def test_a_display_is_known_by_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not environment.has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert environment.has_display()
