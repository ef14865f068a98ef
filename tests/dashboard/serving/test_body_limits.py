"""Which addresses take files: only those that are named, and each of them exists."""

from __future__ import annotations

import pytest
from django.urls import Resolver404, resolve

from dashboard.serving.body_limits import MULTIPART, UPLOAD_ROUTES, Head, takes_files

ADDRESSES = {
    "ask": "/",
    "collections": "/documents/",
    "add_files": "/documents/abc/add/",
    "collection_files": "/api/v1/collections/abc/files",
}


def test_every_route_that_takes_files_has_an_address() -> None:
    assert set(ADDRESSES) == UPLOAD_ROUTES
    assert {name: resolve(address).url_name for name, address in ADDRESSES.items()} == {
        name: name for name in UPLOAD_ROUTES
    }


@pytest.mark.parametrize("address", ADDRESSES.values())
def test_files_are_taken_as_multipart_only(address: str) -> None:
    assert takes_files(Head("POST", f"{address}?next=1", f"{MULTIPART}; boundary=x"))
    assert not takes_files(Head("POST", address, "application/x-www-form-urlencoded"))
    assert not takes_files(Head("GET", address, MULTIPART))


@pytest.mark.parametrize("address", ["/sign-in/", "/admin/login/", "/api/v1/runs"])
def test_other_addresses_take_none(address: str) -> None:
    assert resolve(address)
    assert not takes_files(Head("POST", address, MULTIPART))


def test_an_address_that_nothing_answers_takes_none() -> None:
    with pytest.raises(Resolver404):
        resolve("/nothing-here")
    assert not takes_files(Head("POST", "/nothing-here", MULTIPART))
