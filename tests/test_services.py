"""The tests' own handling of services that are missing, shown on a suite of one test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.subprocess

SUITE = """
import pytest

@pytest.mark.services("redis")
def test_with_redis(): ...
"""
ROOT = Path(__file__).resolve().parents[1]
PORT_WITH_NOTHING = "redis://127.0.0.1:1/0"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  services\n  browser\n")
    (tmp_path / "test_one.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", suite]
    clean = {key: value for key, value in os.environ.items() if key != "REQUIRE_SERVICES"}
    return subprocess.run(
        command,
        cwd=suite,
        env={
            **clean,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(ROOT),
            "TEST_REDIS_URL": PORT_WITH_NOTHING,
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_missing_service_leaves_the_test_out_and_says_how_to_get_it(suite: Path) -> None:
    result = run(suite)
    assert result.returncode == 0
    assert "1 skipped" in result.stdout
    assert "test_one.py::test_with_redis\nTo run them: apt install redis-server" in result.stdout


def test_a_missing_service_fails_where_services_are_required(suite: Path) -> None:
    result = run(suite, REQUIRE_SERVICES="1")
    assert result.returncode == 1
    assert "REQUIRE_SERVICES=1, but no redis" in result.stdout


def test_a_browser_test_outside_its_folder_is_refused(suite: Path) -> None:
    (suite / "test_one.py").write_text(SUITE.replace("redis", "browser"))
    result = run(suite)
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert "tests/browser" in result.stderr
