"""The report while a model writes it: its sentences so far, told as they come to an end.

What is told here is shown at once and checked by nobody. Nothing of it is journaled: a run that
is resumed is told again by the model, or not at all where the whole answer is recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from research.engine.draft import aspect_of, cited
from research.engine.journal import storable
from research.engine.ledger import Ledger
from research.engine.records import Action, Drafted, DraftedSentence
from research.engine.run import Run
from research.engine.tasks.objects import without_thoughts
from research.engine.text import words_in

EVERY_SECONDS = 1.0
WORDS_STEP = 25
_PIECE = re.compile(r'"(?P<key>\w+)"\s*:|(?P<value>"(?:[^"\\]|\\.)*")(?=\s*[,\]}])')
_SENTENCES = frozenset({"statements", "text"})


class Growing:
    """Hears an answer of task `draft` grow and emits `Drafted`, at most once a second.

    Of a draft that may be given up nothing is told before `be_told`.
    """

    def __init__(self, run: Run, is_told: bool = True) -> None:
        self._run = run
        self._is_told = is_told
        self._about = ""
        self._before: tuple[DraftedSentence, ...] = ()
        self._text = ""
        self._told: tuple[DraftedSentence, ...] = ()
        self._words = 0
        self._next_at = 0.0

    def be_told(self) -> None:
        """The draft will be the report's: tell what was heard."""
        self._is_told = True
        self.tell()

    def go_on(self, about: str) -> None:
        """What is heard next is a further answer, on this sub-question."""
        self._before, self._text, self._about = self._sentences(), "", about

    def hear(self, text: str) -> None:
        """The answer so far; '' takes it back."""
        self._text = text
        tools = self._run.journal.tools
        now = tools.clock.monotonic() if tools else 0.0
        if now >= self._next_at:
            self._next_at = now + EVERY_SECONDS
            self.tell()

    def tell(self) -> None:
        """Emit the sentences that are whole, where there are others than before."""
        sentences = self._sentences()
        if sentences == self._told or not self._is_told:
            return
        self._told = sentences
        self._run.journal.emit(Drafted(sentences))
        words = sum(words_in(said.text) for said in sentences) // WORDS_STEP * WORDS_STEP
        if words > self._words:
            self._words = words
            said = f"Writing the report: about {words:,} words so far"
            self._run.journal.emit(Action(said))

    def _sentences(self) -> tuple[DraftedSentence, ...]:
        return (*self._before, *sentences_in(self._text, self._run.ledger, self._about))


def sentences_in(text: str, ledger: Ledger, about: str = "") -> Iterator[DraftedSentence]:
    """The whole statements of an answer that may be cut off anywhere, each on the sub-question of
    its evidence; `about` is the one that the answer begins with.
    """
    for written in _strings_of(text):
        statement = cited(written, ledger)
        if aspect_id := aspect_of(statement, ledger):
            about = ledger.aspects[aspect_id].text
        if statement.text:
            yield DraftedSentence(statement.text, about)


def _strings_of(text: str) -> Iterator[str]:
    """The strings under the keys that hold sentences, as far as they are whole."""
    key = ""
    for piece in _PIECE.finditer(without_thoughts(text)):
        if piece["key"]:
            key = piece["key"]
        elif key in _SENTENCES:
            with suppress(ValueError):
                yield storable(json.loads(piece["value"], strict=False))
