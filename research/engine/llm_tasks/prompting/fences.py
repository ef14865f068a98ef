"""Page text in prompts: one line each, without chat markup or addresses, within fences.

A page is enclosed in two tags with the same mark, an HMAC under a secret of the run, so no page can
forge it and close its fence.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from research.engine.journal import Journal
from research.engine.ports import Page
from research.engine.run import Run
from research.engine.text.folding import canonical
from research.engine.untrusted.address_wall import AddressWall

SECRET_BYTES = 16
MARK_LETTERS = 8
_TAG = re.compile(r"<(?=[^\s<>=\d][^<>]{0,200}>)|<(?=[|<])")
"""The opening of a tag or of a chat program's mark, such as "</page>" and "<|im_end|>"."""
_BRACKETED = re.compile(r"\[(?=/?(?:INST|SYS|SYSTEM|USER|ASSISTANT|[A-Z]\d+)\])", re.IGNORECASE)
"""The opening of "[INST]", and of an id of evidence that a page made up."""
_TOKEN_END = re.compile(r"(?<=\|)>")
"""The end of a chat program's mark, such as that of "<|im_end|>"."""
_HEADING = re.compile(r"^(?=#{1,6}\s)")


async def run_secret(journal: Journal) -> str:
    """Return the run's secret, journaled: a resumed run fences alike."""

    async def make() -> str:
        return secrets.token_hex(SECRET_BYTES)

    made: str = await journal.decide_once("secret", make)
    return made


@dataclass(frozen=True)
class Fences:
    """Rendering of page text in one prompt."""

    secret: str
    wall: AddressWall

    def mark(self, page: Page, number: int) -> str:
        """Return the mark of a page's fence at this place of a prompt."""
        message = f"{number}\n{page.url}\n{page.sha256}".encode(errors="replace")
        return hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()[:MARK_LETTERS]

    def shown(self, text: str) -> str:
        """Return a text of a page as a line of a prompt."""
        return neutral(self.wall.masked(canonical(text)))

    def label(self, text: str) -> str:
        """Return a text of a page as an attribute of its fence."""
        return self.shown(text).replace('"', "'")


def fences(run: Run, pages: Sequence[Page] = ()) -> Fences:
    """Return the fences of a run's prompt that shows `pages`, or what was taken from pages
    before.
    """
    return Fences(run.secret, run.wall(pages))


def neutral(text: str) -> str:
    """Return a text in one line without markup that a prompt or chat program interprets."""
    line = " ".join(text.split())
    line = _BRACKETED.sub("(", _TOKEN_END.sub("›", _TAG.sub("‹", line)))
    return _HEADING.sub("\\\\", line)
