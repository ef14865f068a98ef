"""Labels of engine enums and formatting of numbers, dates and URLs for the interface.

Labels are translated when they are displayed, so the tables below can be built at import.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from django.utils import formats, timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from dashboard.addresses import is_attached, is_shared
from dashboard.titles import shorten
from research.engine.assessment.answer_status import ANSWERED, Marked, Trust, tally
from research.engine.evidence.origin import collection_name, is_collection, origin_of, work_of
from research.engine.records import AnswerStatus, Stage, Status, StopReason
from research.fetch.sites import independence_key
from research.models import Run
from research.readmodel.trust_words import LIKELY, trust_words
from research.worker.commands import Kind

Text: TypeAlias = str | Promise

FILE_PART = re.compile(r"part=(\d+)$")  # "?part=2" of a long document


@dataclass(frozen=True)
class State:
    """A label with icon. `tone` is a CSS class that only repeats their meaning."""

    word: Text
    icon: str
    tone: str


STATUS = {
    Status.QUEUED: State(_("Queued"), "clock", "idle"),
    Status.INTAKE: State(_("Reading the question"), "spinner", "busy"),
    Status.AWAITING_CLARIFICATION: State(_("Has a question for you"), "question", "asks"),
    Status.AWAITING_APPROVAL: State(_("Plan ready for review"), "question", "asks"),
    Status.RESEARCHING: State(_("Researching"), "spinner", "busy"),
    Status.PAUSED: State(_("Paused"), "pause", "idle"),
    Status.WRITING: State(_("Writing the report"), "spinner", "busy"),
    Status.STALLED: State(_("Put aside"), "half", "asks"),
    Status.COMPLETED: State(_("Done"), "check", "good"),
    Status.FAILED: State(_("Failed"), "cross", "bad"),
    Status.CANCELLED: State(_("Cancelled"), "stop", "idle"),
}
CHECK = {
    "good": State(_("Good"), "check", "good"),
    "fair": State(_("Limited"), "half", "fair"),
    "bad": State(_("Failed"), "cross", "bad"),
    "idle": State(_("Not set up"), "none", "idle"),
}
IN_USE = State(_("In use"), "check", "good")
CONNECTED = State(_("Connected"), "check", "good")
UNTESTED = State(_("Set, not tested"), "circle", "idle")
TEST_FAILED = State(_("Failed the last test"), "cross", "bad")
TESTED_LATER = State(_("Not tested yet"), "circle", "idle")
NO_MODEL = State(_("No model connected"), "none", "fair")
SEARCHED = {
    "more": State(_("Ready"), "check", "good"),
    "samples": State(_("Sample pages only"), "half", "fair"),
    "none": State(_("Searches nothing"), "none", "fair"),
}
"""States of the search on the Setup page, by `status_summary.search_reach`."""
COLLECTION = {
    "waiting": State(_("Queued"), "clock", "busy"),
    "indexing": State(pgettext_lazy("documents", "Reading"), "spinner", "busy"),
    "failed": State(_("Cannot be read"), "cross", "bad"),
    "empty": State(_("No files yet"), "circle", "idle"),
    "unreadable": State(_("No file could be read"), "cross", "bad"),
    "ready": State(_("Ready"), "check", "good"),
}
GOES_ON = State(_("Continuing"), "spinner", "busy")
PAUSING = State(_("Pausing"), "pause", "idle")
TRUST = {
    Trust.ANSWERED: ("check", "good"),
    Trust.DISPUTED: ("half", "fair"),
    Trust.PARTLY: ("half", "fair"),
    Trust.RELATED: ("circle", "idle"),
    Trust.NOT_ANSWERED: ("none", "bad"),
    Trust.NOTHING_FOUND: ("none", "idle"),
}
"""Icon and tone of how far a question is answered."""
LIKELY_ANSWERED = State(LIKELY, "dot", "idle")
"""Nothing has judged the passages, so no check mark."""
PAGES_UNREADABLE = State(_("Pages unreadable"), "half", "fair")
MARK = {
    AnswerStatus.ANSWERED: ("check", "good"),
    AnswerStatus.ONE_SOURCE: ("half", "fair"),
    AnswerStatus.PASSAGES: ("half", "fair"),
    AnswerStatus.CLOSE: ("circle", "idle"),
    AnswerStatus.DISPUTED: ("split", "fair"),
    AnswerStatus.OPEN: ("circle", "idle"),
    AnswerStatus.NOT_FOUND: ("none", "idle"),
    AnswerStatus.NOT_SEARCHED: ("circle", "idle"),
}
"""Icon and tone of each answer status."""
MORE_WANTED = State(_("Answered; more detail wanted"), "more", "fair")
STAGE = {
    Stage.OVERVIEW: _("Overview"),
    Stage.DEEP_RESEARCH: _("In depth"),
    Stage.VERIFICATION: _("Checking"),
    Stage.REPORT: _("Report"),
}
LEFT_OUT = State(_("Removed"), "none", "idle")
PENDING_TOPIC = {
    (Kind.ADD_TOPIC, False): State(_("Added after this round"), "clock", "busy"),
    (Kind.ADD_TOPIC, True): State(_("Added when it continues"), "clock", "busy"),
    (Kind.DROP_TOPIC, False): State(_("Left out after this round"), "clock", "idle"),
    (Kind.DROP_TOPIC, True): State(_("Left out when it continues"), "clock", "idle"),
}
"""States of a sub-question with a pending command, by its kind and whether the run is paused."""
UNIT = {
    "done": State(_("done"), "check", "good"),
    "failed": State(_("failed"), "cross", "bad"),
    "late": State(_("too late"), "clock", "fair"),
    "dropped": State(_("dropped"), "none", "idle"),
}
UNIT_RUNNING = State(_("in progress"), "spinner", "busy")
GATE = {
    "overview": _("Overview"),
    "deep_research": _("In depth"),
    "evidence": _("Evidence"),
    "report_ready": _("Ready to write"),
    "draft": _("Draft"),
}
GATE_DECISION = {
    "pass": State(_("passed"), "check", "good"),
    "retry": State(_("not yet"), "circle", "idle"),
    "not_to_be_had": State(_("no further sources found"), "none", "fair"),
}
DIMENSION = {
    "completeness": _("Completeness"),
    "depth": _("Depth of treatment"),
    "reliability": _("Reliability"),
    "actionability": _("Actionability"),
}
VERDICT = {
    "accept": State(_("reviewed: supports it"), "check", "good"),
    "reject": State(_("reviewed: does not support it"), "cross", "bad"),
    "flag": State(_("reviewed: doubtful"), "flag", "fair"),
    "withdraw": State(_("not reviewed"), "none", "idle"),
}
METER = {"calls": "model call", "tokens": "token", "searches": "search", "fetches": "page"}
KIND = {
    "official": _("official"),
    "academic": _("academic"),
    "news": _("news"),
    "reference": _("reference work"),
    "association": _("association"),
    "vendor": _("company"),
    "blog": _("blog"),
    "forum": _("forum"),
    "document": _("document"),
    "unknown": _("website"),
}
NOT_JUDGED = _("not assessed")
CAVEATS = {
    "hedged": _("the page hedges"),
    "dated": _("may be out of date"),
    "number_differs": _("a number differs from the quote"),
    "name_differs": _("a name differs from the quote"),
    "negation_differs": _("a negation differs from the quote"),
    "single_source": "",
    "dictated": _("offered on the page as wording for others, not as its own claim"),
}
NOUNS = {
    "byte": lambda n: ngettext("%(n)s byte", "%(n)s bytes", n),
    "claim": lambda n: ngettext("%(n)s claim", "%(n)s claims", n),
    "document": lambda n: ngettext("%(n)s document", "%(n)s documents", n),
    "file": lambda n: ngettext("%(n)s file", "%(n)s files", n),
    "level": lambda n: ngettext("%(n)s level", "%(n)s levels", n),
    "model call": lambda n: ngettext("%(n)s model call", "%(n)s model calls", n),
    "page": lambda n: ngettext("%(n)s page", "%(n)s pages", n),
    "result": lambda n: ngettext("%(n)s result", "%(n)s results", n),
    "round": lambda n: ngettext("%(n)s round", "%(n)s rounds", n),
    "run": lambda n: ngettext("%(n)s run", "%(n)s runs", n),
    "search": lambda n: ngettext("%(n)s search", "%(n)s searches", n),
    "site": lambda n: ngettext("%(n)s site", "%(n)s sites", n),
    "source": lambda n: ngettext("%(n)s source", "%(n)s sources", n),
    "sub-question": lambda n: ngettext("%(n)s sub-question", "%(n)s sub-questions", n),
    "statement": lambda n: ngettext("%(n)s statement", "%(n)s statements", n),
    "token": lambda n: ngettext("%(n)s token", "%(n)s tokens", n),
}
"""Nouns that are counted, by their English singular."""


def run_state(run: Run, trust: Trust | None = None, *, judged_by_model: bool = True) -> State:
    """Return the label of a run's status; of a completed run, how far its question is answered.

    Without readable pages, no answer could be found.
    """
    if run.status != Status.COMPLETED or trust is None:
        return STATUS[Status(run.status)]
    if trust is Trust.NOTHING_FOUND and run.termination_reason == StopReason.PAGES_UNREADABLE:
        return PAGES_UNREADABLE
    if trust is Trust.ANSWERED and not judged_by_model:
        return LIKELY_ANSWERED
    return State(trust_words(trust, judged_by_model=judged_by_model), *TRUST[trust])


def aspect_state(
    mark: AnswerStatus,
    sources: int,
    open_points: int = 0,
    *,
    noun: str = "site",
    judged_by_model: bool = True,
    but_for: str = "",
) -> State:
    """Return the label of a sub-question's answer status; its sources are counted as `noun`. What
    is answered `but_for` a part names it.
    """
    if mark is AnswerStatus.ANSWERED and not judged_by_model:
        return LIKELY_ANSWERED
    label = _answer_label(mark, sources, noun)
    if but_for and mark in ANSWERED:
        told = gettext("%(state)s, but for: %(part)s")
        return State(told % {"state": label, "part": but_for}, *MARK[mark])
    if open_points and mark in ANSWERED:
        label = f"{label} · {count_open(open_points)}"
    return State(label, *MARK[mark])


def count_open(number: int) -> str:
    """Return how many points a report leaves open."""
    text = ngettext("%(n)s point open", "%(n)s points open", number)
    return text % {"n": format_number(number)}


def _answer_label(mark: AnswerStatus, sources: int, noun: str) -> str:
    counted = count_noun(sources, noun)
    if mark is AnswerStatus.ANSWERED and sources > 1:
        return gettext("Answered, %(sources)s") % {"sources": counted}
    if mark is AnswerStatus.PASSAGES:
        return gettext("Passages from %(sources)s") % {"sources": counted}
    return {
        AnswerStatus.ANSWERED: gettext("Answered"),
        AnswerStatus.ONE_SOURCE: gettext("One document")
        if noun == "document"
        else gettext("One site"),
        AnswerStatus.CLOSE: gettext("Passages come close"),
        AnswerStatus.DISPUTED: gettext("Sources disagree"),
        AnswerStatus.OPEN: gettext("Open"),
        AnswerStatus.NOT_FOUND: gettext("Not found"),
        AnswerStatus.NOT_SEARCHED: gettext("Not searched"),
    }[mark]


def format_number(value: float, decimals: int | None = None) -> str:
    """Format a number in the reader's locale, rounded, with thousands grouped."""
    rounded = value if decimals is None else Decimal(f"{value:.{decimals}f}")
    return formats.number_format(rounded, decimals, use_l10n=True, force_grouping=True)


def format_usd(amount: float | None, decimals: int = 4) -> str:
    """Format an amount: "$0.0312"; "unknown" if there is no price."""
    if amount is None:
        return gettext("unknown")
    return f"${format_number(amount, decimals if amount else 2)}"


def format_percent(share: float) -> str:
    """Format a share as "9 %", rounded to whole percent."""
    return f"{round(100 * share)}\N{NO-BREAK SPACE}%".replace("-", "−")


def count_noun(number: int, noun: str) -> str:
    """Format a count of one of `NOUNS`: `count_noun(2, "page")` is "2 pages"."""
    return NOUNS[noun](number) % {"n": format_number(number)}


def format_size(octets: int) -> str:
    """Format a file size: 812 bytes, 34 KB, 5.2 MB."""
    if octets < 1024:
        return count_noun(octets, "byte")
    if octets < 1024 * 1024:
        return f"{octets / 1024:.0f} KB"
    return f"{format_number(octets / (1024 * 1024), 1)} MB"


def describe_support(domains: int, documents: int) -> str:
    """Return the support of a claim as text: "1 site", "3 sites and 2 documents"."""
    sites = count_noun(domains, "site")
    files = count_noun(documents, "document")
    if domains and documents:
        return gettext("%(sites)s and %(documents)s") % {"sites": sites, "documents": files}
    return sites if domains else files if documents else gettext("nothing yet")


def count_answers(found: Iterable[Marked], *, judged_by_model: bool) -> str:
    """Return how many of several sub-questions are answered, or have passages without a model.

    As in the report, those on which sources disagree are answered.
    """
    counted = tally(found)
    numbers = {"n": counted.answered, "total": counted.total}
    if not judged_by_model:
        return gettext("passages for %(n)s of %(total)s sub-questions") % numbers
    return gettext("%(n)s of %(total)s sub-questions answered") % numbers


def describe_pages(urls: Collection[str]) -> str:
    """Return how many pages there are, and on how many sites: "6 pages from 4 sites"."""
    sites = count_sites(urls)
    if not sites:
        is_files = all(urlsplit(url).hostname is None for url in urls)
        return count_noun(len(urls), "document" if is_files else "page")
    return gettext("%(pages)s from %(sites)s") % {
        "pages": count_noun(len(urls), "page"),
        "sites": describe_support(sites, 0),
    }


def count_sites(urls: Collection[str]) -> int:
    """Return on how many sites pages are, as evidence counts them; 0 if some are documents."""
    if any(urlsplit(url).hostname is None for url in urls):
        return 0
    return len({independence_key(url) for url in urls})


def join_words(parts: list[str]) -> str:
    """Return words as an enumeration: "numbers, names and negations"."""
    if len(parts) < 2:
        return "".join(parts)
    return gettext("%(others)s and %(last)s") % {
        "others": ", ".join(parts[:-1]),
        "last": parts[-1],
    }


def readable_url(url: str) -> str:
    """Return a decoded URL without scheme and query, shortened in the middle to 80 characters.

    The part of a long document is kept in words, its folder only where the report isn't shared. A
    file that was attached to a question has no folder.
    """
    is_bare = is_shared() or _is_attached_file(url)
    parts = urlsplit(without_folder(url) if is_bare else url)
    shown = unquote(f"{parts.hostname or ''}{parts.path}").strip("/")
    shown = shown if len(shown) <= 80 else f"{shown[:40]}…{shown[-38:]}"
    part = FILE_PART.match(parts.query) if parts.scheme == "file" else None
    if part is not None:
        shown = gettext("%(document)s, part %(n)s") % {"document": shown, "n": part[1]}
    if is_bare and not is_shared():
        shown = gettext("%(document)s (attached)") % {"document": shown}
    return shown


def site_of_documents(url: str) -> Site:
    """Return a document's folder, or its collection, as a site; a shared report names none."""
    if is_shared():
        return Site(gettext("Documents"))
    attached = _is_attached_file(url)
    return Site(
        gettext("Attached files") if attached else collection_name(work_of(url)).split("/")[-1]
    )


def _is_attached_file(url: str) -> bool:
    origin = origin_of(url)
    return is_collection(origin) and is_attached(collection_name(origin))


def without_folder(url: str) -> str:
    """Return the address of a document without collection and folder; others as they are."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    return parts._replace(path=f"/{parts.path.rpartition('/')[2]}").geturl()


def short_place(url: str) -> str:
    """Return the site of a web page, to be shown beside its title, or the path of a document."""
    host = urlsplit(url).hostname
    return host.removeprefix("www.") if host else readable_url(url)


LONGEST_SITE = 60


@dataclass(frozen=True)
class Site:
    """A site as a reader knows it; `domain` is '' where the name is the domain itself."""

    name: str
    domain: str = ""


def site_of(url: str, named: str | None = None, title: str = "") -> Site:
    """Return the site of a page under the name that the page gives it, or under its domain; a
    document under its `title`, or its path.
    """
    place = short_place(url)
    if title and not urlsplit(url).hostname:
        return Site(shorten(title, LONGEST_SITE), place)
    if not named or not urlsplit(url).hostname or named.casefold() == place:
        return Site(place)
    return Site(shorten(named, LONGEST_SITE), place)


def is_on_the_web(url: str) -> bool:
    """Return whether others can open a URL.

    The hosts of the sample library end in the reserved `.example`.
    """
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and not (parts.hostname or "").endswith(".example")


def format_seconds(value: float) -> str:
    """Format a duration: 0.4 s, 12 s, 3:05 min, 2:10 h."""
    if value < 10 and value % 1:
        return gettext("%(n)s s") % {"n": format_number(value, 1)}
    if value < 60:
        return gettext("%(n)s s") % {"n": f"{value:.0f}"}
    minutes, seconds = divmod(int(value), 60)
    if value >= 3600:
        return gettext("%(n)s h") % {"n": f"{minutes // 60}:{minutes % 60:02d}"}
    return gettext("%(n)s min") % {"n": f"{minutes}:{seconds:02d}"}


def time_ago(moment: datetime, now: datetime) -> str:
    """Return a relative time in one unit; a date after a week. Days are those of the calendar in
    the current time zone, as in headings.
    """
    passed = max(0, int((now - moment).total_seconds()))
    days = (timezone.localdate(now) - timezone.localdate(moment)).days
    if passed < 10:
        return gettext("just now")
    if passed < 60:
        return gettext("%(n)s s ago") % {"n": passed}
    if passed < 3600:
        return gettext("%(n)s min ago") % {"n": passed // 60}
    if days < 1:
        return gettext("%(n)s h ago") % {"n": passed // 3600}
    if days == 1:
        return gettext("yesterday")
    if days < 7:
        return ngettext("%(n)s day ago", "%(n)s days ago", days) % {"n": days}
    return format_day(moment)


def format_partial_date(date: str) -> str:
    """Format the date of a page, which may be only a year or a month."""
    if re.fullmatch(r"[1-9]\d{3}-(0[1-9]|1[0-2])", date):  # "2024-03"
        month = datetime(int(date[:4]), int(date[5:]), 1)
        return formats.date_format(month, "YEAR_MONTH_FORMAT", use_l10n=True)
    try:
        return format_day(datetime.fromisoformat(date))
    except ValueError:
        return date


def format_day(moment: date) -> str:
    """Format a date, or the day of a moment in the current time zone."""
    if isinstance(moment, datetime) and timezone.is_aware(moment):
        moment = timezone.localtime(moment)
    return formats.date_format(moment, "DATE_FORMAT", use_l10n=True)


def format_moment(moment: datetime) -> str:
    """Format date and time with the time zone, for a tooltip."""
    shown = formats.date_format(moment, "DATETIME_FORMAT", use_l10n=True)
    return f"{shown} {timezone.localtime(moment).tzname()}"


def format_score(value: float | None) -> str:
    return "–" if value is None else format_number(value, 1)
