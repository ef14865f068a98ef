"""Create .venv from a lock file; `make install` and `make test` call it if .venv is out of date.

A copy of the lock inside .venv marks a finished install. `.venv/incomplete` marks a running one: if
it exists at the start, an earlier install was interrupted and .venv is created again.
"""

import argparse
import fcntl
import filecmp
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
INCOMPLETE = VENV / "incomplete"
RUN_LOCK, TEST_LOCK = "requirements.lock", "requirements-dev.lock"


def main() -> int:
    arguments = parse_arguments()
    with only_one_at_a_time():
        if not is_usable(same_python=arguments.same_python):
            make_empty_environment()
        if is_installed(arguments.lock):
            return 0
        return install(arguments.lock)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lock", choices=[RUN_LOCK, TEST_LOCK])
    parser.add_argument(
        "--same-python", action="store_true", help="make .venv anew if another Python made it"
    )
    return parser.parse_args()


@contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Serialize concurrent calls of make: the second waits and then finds the work done."""
    with (ROOT / "pyproject.toml").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make is installing into .venv: waiting for it.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_usable(*, same_python: bool) -> bool:
    """Return whether an existing .venv can be updated instead of created again."""
    if INCOMPLETE.exists() or not PYTHON.exists():
        return False
    ask = "import platform, pip, sys; assert sys.version_info >= (3, 11)"
    answer = subprocess.run(
        [PYTHON, "-c", f"{ask}; print(platform.python_version())"], capture_output=True, text=True
    )
    if answer.returncode:
        return False
    return not same_python or answer.stdout.strip() == platform.python_version()


def make_empty_environment() -> None:
    print(f"Making .venv with Python {platform.python_version()}.", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    VENV.mkdir()
    INCOMPLETE.touch()
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    INCOMPLETE.unlink()


def is_installed(lock: str) -> bool:
    return (VENV / lock).exists() and filecmp.cmp(ROOT / lock, VENV / lock, shallow=False)


def install(lock: str) -> int:
    print(f"Installing {lock} into .venv: about a minute the first time.", flush=True)
    started = time.monotonic()
    INCOMPLETE.touch()
    for stamp in (RUN_LOCK, TEST_LOCK):
        (VENV / stamp).unlink(missing_ok=True)
    # The lock lists every package, so pip needs no resolver; Python compiles modules on their
    # first import. Each halves the time.
    pip: list[str | Path] = [
        PYTHON,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "install",
        "--quiet",
    ]
    options: list[str | Path] = [
        "--require-hashes",
        "--no-deps",
        "--no-compile",
        "--requirement",
        lock,
    ]
    status = subprocess.run([*pip, *options], cwd=ROOT).returncode
    if status:
        print(
            "The packages could not be installed: pip says above why. "
            "Run the same command again once that is mended.",
            file=sys.stderr,
        )
        return status
    INCOMPLETE.unlink()
    # The development lock contains all of the other one, with the same versions.
    for stamp in {lock, RUN_LOCK}:
        shutil.copy(ROOT / stamp, VENV / stamp)
    print(f"Done in {time.monotonic() - started:.0f} seconds.", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
