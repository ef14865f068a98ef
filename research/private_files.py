"""Files and folders for their owner only, whatever the umask says."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database; new ones get the database's own mode."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Make the folder, or take everybody else's access away. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.stat().st_mode & stat.S_ISVTX:  # one like /tmp belongs to everybody
        _close_to_others(folder)


def make_private_database(path: Path) -> None:
    """Make an empty SQLite database, or close the one that is there, to others.

    Raises `OSError` where it cannot be made. Where there is no folder for it, nothing is done.
    """
    if path.parent.is_dir():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for each in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)):
        with suppress(FileNotFoundError):
            _close_to_others(each)


def for_owner(path: str, flags: int) -> int:
    """An opener for `open`."""
    return os.open(path, flags, 0o600)


def _close_to_others(path: Path) -> None:
    """What belongs to another account is left as that account has it."""
    found = path.stat()
    if found.st_uid == os.geteuid() and found.st_mode & OTHERS:
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
