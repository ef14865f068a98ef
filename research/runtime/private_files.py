"""Files and folders that only their owner can access, whatever the umask."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

SIDE_FILES = ("-wal", "-shm", "-journal")
"""Suffixes of SQLite's auxiliary files, which are created with the database's mode."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Create the folder, or remove the access of others; raise `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.stat().st_mode & stat.S_ISVTX:  # a sticky folder is shared on purpose
        _close_to_others(folder)


def make_private_database(path: Path) -> None:
    """Create an empty SQLite database, or remove others' access to the existing one.

    Raise `OSError` if it can't be created. Do nothing if its folder doesn't exist.
    """
    if path.parent.is_dir():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for each in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)):
        with suppress(FileNotFoundError):
            _close_to_others(each)


def for_owner(path: str, flags: int) -> int:
    """Opener for `open`, with mode 0600."""
    return os.open(path, flags, 0o600)


def _close_to_others(path: Path) -> None:
    """Remove others' access, unless the file belongs to another account."""
    found = path.stat()
    if found.st_uid == os.geteuid() and found.st_mode & OTHERS:
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
