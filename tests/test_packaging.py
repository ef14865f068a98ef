"""What the checkout promises to a fresh machine: locks that hold anywhere, and nothing of ours."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock")
PINNED = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?P<rest>.*(?:\n {4}--hash=.*)*)", re.MULTILINE
)
ADDRESS = re.compile(r"\w+:/{2}|--(extra-)?index|--find-links|--trusted-host")
# Built from parts, so that this file does not hold what it looks for.
FOLDERS = "|".join(["work", "root", "home", "Users"])
MACHINE_PATH = re.compile(rf"(?<![\w.:/~{{}}-])/(?:{FOLDERS})/\w")


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def direct_dependencies(lock: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    requirements = list(project["project"]["dependencies"])
    if lock == "requirements-dev.lock":
        requirements += project["dependency-groups"]["dev"]
    return {normalised(re.split(r"[\[<>=~!; ]", text, maxsplit=1)[0]) for text in requirements}


def pins(lock: str) -> list[re.Match[str]]:
    return list(PINNED.finditer((ROOT / lock).read_text()))


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_names_no_index_and_no_address(lock: str) -> None:
    assert not ADDRESS.search((ROOT / lock).read_text())


@pytest.mark.parametrize("lock", LOCKS)
def test_every_direct_dependency_is_locked(lock: str) -> None:
    assert direct_dependencies(lock) <= {pin["name"] for pin in pins(lock)}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes(lock: str) -> None:
    assert [pin["name"] for pin in pins(lock) if "--hash=sha256:" not in pin["rest"]] == []


@pytest.mark.parametrize("name", ["lxml", "nh3", "psycopg-binary", "pydantic-core"])
def test_compiled_packages_are_locked_for_many_platforms(name: str) -> None:
    [pin] = [pin for pin in pins("requirements.lock") if pin["name"] == name]
    assert pin["rest"].count("--hash=") > 20


def test_the_test_lock_holds_the_other_with_the_same_versions() -> None:
    run, test = ({(pin["name"], pin["version"]) for pin in pins(lock)} for lock in LOCKS)
    assert run <= test


@pytest.mark.subprocess
def test_no_committed_file_names_a_folder_of_somebodys_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode:
        pytest.skip("not a git checkout")
    found = []
    for name in filter(None, tracked.stdout.split("\0")):
        found += [f"{name}: {hit}" for hit in machine_paths(ROOT / name)]
    assert found == []


def machine_paths(path: Path) -> list[str]:
    try:
        text = path.read_text()
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return []  # not a text, or removed and not yet committed
    return [match.group() for match in MACHINE_PATH.finditer(text)]


@pytest.mark.subprocess
def test_the_wheel_has_the_program_and_its_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("plumbline-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [entry] = [name for name in names if name.endswith("entry_points.txt")]
        assert "plumbline = plumbline.cli.main:main" in archive.read(entry).decode()
    for folder in ("templates", "static"):
        packed = {name for name in names if name.startswith(f"dashboard/{folder}/")}
        kept = {path for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert packed == {f"dashboard/{path.relative_to(ROOT)}" for path in kept}
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {
        "bench", "config", "dashboard", "plumbline", "research"
    }  # fmt: skip
    inside = {path for path in (ROOT / "research").rglob("*") if "__pycache__" not in path.parts}
    assert {str(path.relative_to(ROOT)) for path in inside if path.is_file()} <= set(names)
