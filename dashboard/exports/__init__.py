"""Export formats for finished runs: each module of this package with a `FORMAT` is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from dashboard.exports.contents import Contents, load_contents
from dashboard.titles import short_title
from research.errors import PlumblineError
from research.models import Run

NAME_LENGTH = 60
READING = _("To read and edit")
PASTE = "paste"
"""Name of the HTML that copying a report puts on the clipboard. It is no file to save, so that no
list of formats has it.
"""


@dataclass(frozen=True)
class Format:
    """An export format.

    `needs_report` is False if a run without a report can be exported, too. Formats are listed by
    `position`, those without one last. `purpose` says what it is for; formats with the same
    `group` are offered together.
    """

    name: str
    extension: str
    content_type: str
    render: Callable[[Contents], bytes]
    needs_report: bool = True
    position: int = 100
    purpose: str | Promise = ""
    group: str | Promise = READING

    @property
    def takes_quotes(self) -> bool:
        """Return whether the quotes stand behind the report, and may be left out."""
        return self.group is READING


class Registry(Mapping[str, Format]):
    """The formats by file name extension, imported when the first one is looked up."""

    @cached_property
    def _formats(self) -> dict[str, Format]:
        modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
        found: list[Format] = [each.FORMAT for each in modules if hasattr(each, "FORMAT")]
        found.sort(key=lambda each: (each.position, each.name))
        return {each.extension: each for each in found}

    def __getitem__(self, extension: str) -> Format:
        return self._formats[extension]

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


FORMATS: Mapping[str, Format] = Registry()


def find_format(name: str) -> Format:
    """Return the format with an extension, or the one named `PASTE`."""
    if name != PASTE:
        return FORMATS[name]
    pasted: Format = import_module(f"{__name__}.html").PASTED
    return pasted


@dataclass(frozen=True)
class Exported:
    """An exported file."""

    content: bytes
    filename: str
    content_type: str


class NothingToExportError(PlumblineError):
    """The run has no report, and the format cannot represent anything else."""


def export_report(run: Run, form: Format, *, with_quotes: bool = True) -> Exported:
    """Return the run's latest report in a format, where it `takes_quotes` with or without them.

    Raise `NothingToExportError` if the format needs a report and there is none.
    """
    with translation.override(interface_language(run.language)):
        return _export_as(run, form, with_quotes)


def interface_language(tag: str) -> str:
    """Return the language of headings around a report: the report's own, if it has a catalogue."""
    code = tag.split("-")[0].lower()
    return code if code in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def _export_as(run: Run, form: Format, with_quotes: bool) -> Exported:
    whole = load_contents(run, has_quotes=with_quotes)
    if form.needs_report and not whole.markdown:
        raise NothingToExportError(_("This run has no report. Its record can be exported as JSON."))
    name = slugify(short_title(whole.title, NAME_LENGTH)) or run.public_id
    return Exported(form.render(whole), f"{name}.{form.extension}", form.content_type)
