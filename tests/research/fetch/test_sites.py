import socket

import pytest

from research.fetch.sites import domain_of, independence_key, kind_of


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.example.org/a", "example.org"),
        ("https://news.bbc.co.uk/", "bbc.co.uk"),
        ("https://docs.python.org/3/", "python.org"),
        ("http://DOCS.Python.org:8080/", "python.org"),
        ("https://alice.github.io/", "alice.github.io"),
        ("http://127.0.0.1:8001/a", "127.0.0.1:8001"),
        ("http://127.0.0.1/a", "127.0.0.1:80"),
        ("http://[::1]:8001/a", "::1:8001"),
        ("http://localhost:8001/a", "localhost:8001"),
        ("http://10.1.2.3:8001/a", "10.1.2.3"),
        ("http://a.site.test/", "a.site.test"),
        ("http://harbour.example/", "harbour.example"),
        ("http://www.harbour.example/", "harbour.example"),
        ("http://server.unheardof/", "server.unheardof"),
        ("file:///collection/a/b.html", "file:///collection/a/b.html"),
    ],
)
def test_sources_of_one_site_share_a_key(url, key):
    assert independence_key(url) == key


def test_the_key_needs_no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert independence_key("https://a.b.example.com/") == "example.com"


def test_a_domain_is_named_without_www():
    assert domain_of("https://www.Example.org:8080/") == "example.org"
    assert domain_of("https://docs.example.org./") == "docs.example.org"


@pytest.mark.requirement("C20")
@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("www.nasa.gov", "official"), ("www.gov.uk", "official"), ("x.army.mil", "official"),
        ("www.service-public.gouv.fr", "official"), ("datatracker.ietf.org", "official"),
        ("cs.stanford.edu", "academic"), ("www.cam.ac.uk", "academic"), ("arxiv.org", "academic"),
        ("doi.org", "academic"), ("pubmed.ncbi.nlm.nih.gov", "academic"),
        ("stackoverflow.com", "forum"), ("dba.stackexchange.com", "forum"),
        ("forum.example.org", "forum"), ("www.reuters.com", "news"), ("news.example.org", "news"),
        ("docs.example.com", "vendor"), ("example.com", "unknown"), ("notgov.com", "unknown"),
        ("myarxiv.org", "unknown"),
    ],
)  # fmt: skip
def test_kinds_follow_fixed_rules(host, kind):
    assert kind_of(f"https://{host}/page") == kind


@pytest.mark.parametrize(
    ("url", "site", "kind"),
    [
        ("https://a.example/t/1", "Gardeners' Forum", "forum"),
        ("https://a.example/forum/1", "", "forum"),
        ("https://a.example/viewtopic.php?t=1", "", "forum"),
        ("https://a.example/forums-of-rome", "Roman Forums", "forum"),
        ("https://a.example/forums-of-rome", "Rome", "unknown"),
        ("https://archive.gov/a", "World Water Forum", "official"),
    ],
)
def test_a_site_is_a_forum_by_its_path_or_its_own_name(url, site, kind):
    assert kind_of(url, site) == kind


def test_a_file_is_a_document():
    assert kind_of("file:///collection/a.html") == "document"


def test_an_address_that_cannot_be_read_has_no_host():
    for url in ("http://[::1", "http://a]b/", "", "http://"):
        assert (domain_of(url), independence_key(url), kind_of(url)) == ("", url, "unknown")
