"""Questions with known answers and known pages, read from JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

YES_NO = frozenset({"yes", "no"})


class DataError(ValueError):
    """An invalid data file; the message has file, line and error."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class PageText(_Data):
    """A page of the library. Pages with equal titles can have different texts."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(sentence.strip() for sentence in self.sentences if sentence.strip())


class Gold(_Data):
    """Required evidence: sentences of one page, or a whole paragraph of it."""

    title: str
    sentences: tuple[str, ...] | None = None
    paragraph: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not any(text.strip() for text in self.texts):
            raise ValueError("gold needs sentences or a paragraph")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        return self.sentences or (self.paragraph or "",)


class _Pages(_Data):
    pages: tuple[PageText, ...]


class Case(_Pages):
    """One question. `file` is the stem of the file it was read from."""

    id: str
    question: str
    answers: tuple[str, ...] = ()
    hops: int = 1
    gold: tuple[Gold, ...]
    file: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.gold or not self.question.strip():
            raise ValueError("a question and its gold are needed")
        return self

    @property
    def has_answer_text(self) -> bool:
        """Return whether a text can be searched for the answer; "yes" and "no" don't count."""
        return any(answer.strip().casefold() not in YES_NO for answer in self.answers)


D = TypeVar("D", bound=_Data)


def read_cases(files: Sequence[Path], limit: int | None = None) -> list[Case]:
    """Return at most `limit` questions, taken from the files in turn. Raise `DataError`."""
    by_file = [
        [case.model_copy(update={"file": file.stem}) for case in _lines(file, Case)]
        for file in files
    ]
    if limit is None:
        return list(chain.from_iterable(by_file))
    return [case for case in chain.from_iterable(zip_longest(*by_file)) if case][:limit]


def read_pages(files: Iterable[Path]) -> Iterator[PageText]:
    """Return the pages of all files that have any text. Raise `DataError`."""
    for file in files:
        for line in _lines(file, _Pages):
            yield from (page for page in line.pages if page.text)


def _lines(file: Path, kind: type[D]) -> Iterator[D]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{file} is no text file that can be read.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise DataError(f"{file}, line {number}: {_fault(error)}.") from None


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]
