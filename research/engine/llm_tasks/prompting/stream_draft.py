"""Stream the report while a model writes it: complete sentences so far, unchecked.

They are displayed at once and not journaled: a resumed run streams again if the model repeats the
answer, and not at all if the answer is recorded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal import make_storable
from research.engine.llm_tasks.prompting.parse_json import without_thoughts
from research.engine.records import Action, Drafted, DraftedSentence
from research.engine.report.draft import aspect_of, cite_ids, split_part
from research.engine.run import Run
from research.engine.text.tokens import words_in

EVERY_SECONDS = 1.0
WORDS_STEP = 25
_PIECE = re.compile(r'"(?P<key>\w+)"\s*:|(?P<value>"(?:[^"\\]|\\.)*")(?=\s*[,\]}])')
_SENTENCES = frozenset({"statements", "text"})


class DraftStream:
    """Receives a growing answer of task `draft` and emits `Drafted`, at most once a second.

    A speculative draft emits nothing before `be_told`.
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
        """Emit what was received: the draft will become the report's."""
        self._is_told = True
        self.tell()

    def go_on(self, about: str) -> None:
        """Expect a further answer, on this sub-question."""
        self._before, self._text, self._about = self._whole_sentences(), "", about

    def hear(self, text: str) -> None:
        """The answer so far; '' takes it back."""
        self._text = text
        tools = self._run.journal.tools
        now = tools.clock.monotonic() if tools else 0.0
        if now >= self._next_at:
            self._next_at = now + EVERY_SECONDS
            self.tell()

    def tell(self) -> None:
        """Emit the complete sentences if they differ from before."""
        sentences = self._whole_sentences()
        if sentences == self._told or not self._is_told:
            return
        self._told = sentences
        self._run.journal.emit(Drafted(sentences))
        words = sum(words_in(said.text) for said in sentences) // WORDS_STEP * WORDS_STEP
        if words > self._words:
            self._words = words
            said = f"Writing the report: about {words:,} words so far"
            self._run.journal.emit(Action(said))

    def _whole_sentences(self) -> tuple[DraftedSentence, ...]:
        wall = self._run.wall()
        said = sentences_in(self._text, self._run.ledger, self._about)
        return (*self._before, *(replace(each, text=wall.masked(each.text)) for each in said))


def sentences_in(text: str, ledger: Ledger, about: str = "") -> Iterator[DraftedSentence]:
    """Yield the whole statements of an answer that may be cut off anywhere, each on the
    sub-question that it is put under or else that of its evidence; `about` is the one that the
    answer begins with.
    """
    is_put = False
    for written in _strings_of(text):
        part, said = split_part(written, ledger)
        is_put = is_put or bool(part)
        statement = cite_ids(said, ledger)
        if aspect_id := part or ("" if is_put else aspect_of(statement, ledger)):
            about = ledger.aspects[aspect_id].text
        if statement.text:
            yield DraftedSentence(statement.text, about)


def _strings_of(text: str) -> Iterator[str]:
    """Yield the strings under the keys of sentences, as far as they are complete."""
    key = ""
    for piece in _PIECE.finditer(without_thoughts(text)):
        if piece["key"]:
            key = piece["key"]
        elif key in _SENTENCES:
            with suppress(ValueError):
                yield make_storable(json.loads(piece["value"], strict=False))
