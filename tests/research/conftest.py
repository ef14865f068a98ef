"""People, and a database file: writers of several threads need one that they can share."""

from __future__ import annotations

import os
import tempfile

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.db import connections

from research.models import Run
from research.services import runs

_test_settings = connections["default"].settings_dict["TEST"]
if connections["default"].vendor == "sqlite" and not _test_settings["NAME"]:
    _test_settings["NAME"] = f"{tempfile.gettempdir()}/plumbline-test-{os.getpid()}.sqlite3"


def _person(name: str, **more: bool) -> AbstractUser:
    return get_user_model()._default_manager.create_user(name, **more)


@pytest.fixture
def ada(db: None) -> AbstractUser:
    return _person("ada")


@pytest.fixture
def bob(db: None) -> AbstractUser:
    return _person("bob")


@pytest.fixture
def staff(db: None) -> AbstractUser:
    return _person("staff", is_staff=True, is_superuser=True)


@pytest.fixture
def run(ada: AbstractUser) -> Run:
    return runs.ask(ada, "How are eggs scrambled?", agreed=True)
