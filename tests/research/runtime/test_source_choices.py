import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from research.runtime import installation, source_choices
from research.runtime.source_choices import NetworkProbe, chosen_sources, documents_alone
from research.search.providers import KEYLESS_WEB, ProviderSettings


@pytest.mark.parametrize(
    ("search", "names"),
    [
        (["documents"], ("handbook", "postgresql-doc-15", "Minutes")),
        (["documents", "searxng"], ()),
        (["searxng"], ()),
        ([], ()),
    ],
)
def test_documents_are_named_where_nothing_else_is_searched(search, names):
    sources = {
        "search": search,
        "documents": ["/srv/handbook", "/usr/share/doc/postgresql-doc-15/html"],
        "collections": [{"id": "x", "name": "Minutes"}, {"id": "y", "name": "handbook"}],
    }
    assert documents_alone(sources) == names


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def place(listener: socket.socket) -> str:
    return "{}:{}".format(*listener.getsockname())


def test_a_place_that_takes_a_connection_is_a_network(listener):
    assert NetworkProbe(place(listener))()


def test_a_place_where_nobody_listens_is_none(listener):
    gone = place(listener)
    listener.close()
    assert not NetworkProbe(gone)()


@pytest.mark.parametrize("named", ["", "none"])
def test_no_place_is_tried_where_none_is_named(named):
    before = threading.active_count()
    assert not NetworkProbe(named)()
    assert threading.active_count() == before


@pytest.mark.parametrize("named", ["nonsense", "127.0.0.1:port", "no-such-host.invalid:443"])
def test_a_place_that_is_none_is_no_network(named):
    assert not NetworkProbe(named)()


def test_silence_costs_a_second_once():
    """A listener whose queue is full answers nobody."""
    with socket.socket() as full, socket.socket() as one, socket.socket() as two:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (one, two):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        probe = NetworkProbe(place(full))
        assert not probe()
        started = time.monotonic()
        assert not probe()
        assert time.monotonic() - started < source_choices.LONGEST_SECONDS


def chosen() -> dict[str, Any]:
    return chosen_sources(installation.of_the_environment())


def test_where_nothing_is_configured_the_network_decides(settings, listener):
    settings.SEARCH_PROVIDER, settings.DOCUMENTS, settings.PROVIDERS = "", [], ProviderSettings()
    settings.NETWORK_PROBE = place(listener)
    assert chosen() == {"search": KEYLESS_WEB, "documents": []}
    settings.NETWORK_PROBE = "none"
    assert chosen() == {"search": ["samples"], "documents": []}


def test_what_is_configured_comes_before_the_keyless_web(settings, listener, tmp_path):
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", []
    settings.NETWORK_PROBE = place(listener)
    settings.PROVIDERS = ProviderSettings({"BRAVE_API_KEY": "x", "SEARXNG_URL": "http://x"})
    assert chosen()["search"] == ["searxng", "brave"]
    settings.DOCUMENTS = [str(tmp_path)]
    assert chosen() == {"search": ["documents"], "documents": [str(tmp_path)]}
    settings.SEARCH_PROVIDER = "arxiv, documents"
    assert chosen()["search"] == ["arxiv", "documents"]


@pytest.mark.requirement("D8")
def test_none_leaves_the_documents_that_are_set_up(settings, tmp_path):
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "none", []
    assert chosen() == {"search": ["none"], "documents": []}
    settings.DOCUMENTS = [str(tmp_path)]
    assert chosen() == {"search": ["documents"], "documents": [str(tmp_path)]}
