"""Labels of engine enums and formatting of numbers, dates and URLs for the interface."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote, urlsplit

from research.engine.assessment.answer_status import Trust
from research.engine.records import AnswerStatus, Stage, Status, StopReason
from research.engine.report.messages import mark_words


@dataclass(frozen=True)
class State:
    """A label with icon. `tone` is a CSS class that only repeats their meaning."""

    word: str
    icon: str
    tone: str


STATUS = {
    Status.QUEUED: State("Queued", "clock", "idle"),
    Status.INTAKE: State("Reading the question", "spinner", "busy"),
    Status.AWAITING_CLARIFICATION: State("Has a question for you", "question", "asks"),
    Status.AWAITING_APPROVAL: State("Plan ready for review", "question", "asks"),
    Status.RESEARCHING: State("Researching", "spinner", "busy"),
    Status.PAUSED: State("Paused", "pause", "idle"),
    Status.WRITING: State("Writing the report", "spinner", "busy"),
    Status.STALLED: State("Put aside", "half", "asks"),
    Status.COMPLETED: State("Done", "check", "good"),
    Status.FAILED: State("Failed", "cross", "bad"),
    Status.CANCELLED: State("Cancelled", "stop", "idle"),
}
CHECK = {
    "good": State("Good", "check", "good"),
    "fair": State("Limited", "half", "fair"),
    "bad": State("Failed", "cross", "bad"),
    "idle": State("Not set up", "none", "idle"),
}
IN_USE = State("In use", "check", "good")
COLLECTION = {
    "waiting": State("Queued", "clock", "busy"),
    "indexing": State("Reading", "spinner", "busy"),
    "failed": State("Cannot be read", "cross", "bad"),
    "empty": State("No files yet", "circle", "idle"),
    "ready": State("Ready", "check", "good"),
}
GOES_ON = State("Going on", "spinner", "busy")
TRUST = {
    Trust.ANSWERED: State("Answered", "check", "good"),
    Trust.PARTLY: State("Partly answered", "half", "fair"),
    Trust.NOT_ANSWERED: State("Not answered", "none", "bad"),
    Trust.NOTHING_FOUND: State("Nothing found", "none", "idle"),
}
PAGES_UNREADABLE = State("Pages unreadable", "half", "fair")
MARK = {
    AnswerStatus.ANSWERED: ("check", "good"),
    AnswerStatus.ONE_SOURCE: ("half", "fair"),
    AnswerStatus.PASSAGES: ("half", "fair"),
    AnswerStatus.CLOSE: ("circle", "idle"),
    AnswerStatus.DISPUTED: ("split", "bad"),
    AnswerStatus.OPEN: ("circle", "idle"),
    AnswerStatus.NOT_FOUND: ("none", "idle"),
    AnswerStatus.NOT_SEARCHED: ("circle", "idle"),
}
"""Icon and tone of each answer status."""
STAGE = {
    Stage.OVERVIEW: "Overview",
    Stage.DEEP_RESEARCH: "In depth",
    Stage.VERIFICATION: "Checking",
    Stage.REPORT: "Report",
}
LEFT_OUT = State("Removed", "none", "idle")
UNIT = {
    "done": State("done", "check", "good"),
    "failed": State("failed", "cross", "bad"),
    "late": State("too late", "clock", "fair"),
    "dropped": State("dropped", "none", "idle"),
}
UNIT_RUNNING = State("in progress", "spinner", "busy")
GATE = {
    "overview": "Overview",
    "deep_research": "In depth",
    "evidence": "Evidence",
    "report_ready": "Ready to write",
    "draft": "The draft",
}
GATE_DECISION = {
    "pass": State("passed", "check", "good"),
    "retry": State("not yet", "circle", "idle"),
    "not_to_be_had": State("no further sources found", "none", "fair"),
}
VERDICT = {
    "accept": State("a reviewer says: supports it", "check", "good"),
    "reject": State("a reviewer says: does not support it", "cross", "bad"),
    "flag": State("a reviewer says: doubtful", "flag", "fair"),
}
METER = {
    "calls": ("model call", "model calls"),
    "tokens": ("token", "tokens"),
    "searches": ("search", "searches"),
    "fetches": ("page", "pages"),
}
KIND = {
    "official": "official",
    "academic": "academic",
    "news": "news",
    "forum": "forum",
    "vendor": "vendor",
    "document": "document",
    "unknown": "",
}
NOT_JUDGED = "not judged"
CAVEATS = {
    "hedged": "the page hedges",
    "dated": "may be out of date",
    "number_differs": "a number differs from the quote",
    "name_differs": "a name differs from the quote",
    "negation_differs": "a negation differs from the quote",
    "single_source": "",
}


def run_state(value: str, reason: str | None = None, trust: Trust | None = None) -> State:
    """Return the label of a run's status; of a completed run, how far its question is answered.

    `reason` is the stop reason: without readable pages, no answer could be found.
    """
    if value != Status.COMPLETED or trust is None:
        return STATUS[Status(value)]
    if trust is Trust.NOTHING_FOUND and reason == StopReason.PAGES_UNREADABLE:
        return PAGES_UNREADABLE
    return TRUST[trust]


def aspect_state(mark: AnswerStatus, sources: int) -> State:
    """Return the label of a sub-question's answer status, with the number of sources."""
    said = mark_words(mark, sources)
    return State(said[:1].upper() + said[1:], *MARK[mark])


def count_noun(number: int, one: str, many: str = "") -> str:
    """Format a count: `count_noun(2, "page")` is "2 pages"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_size(octets: int) -> str:
    """Format a file size: 812 bytes, 34 KB, 5.2 MB."""
    if octets < 1024:
        return count_noun(octets, "byte")
    if octets < 1024 * 1024:
        return f"{octets / 1024:.0f} KB"
    return f"{octets / (1024 * 1024):.1f} MB"


def describe_support(domains: int, documents: int) -> str:
    """Return the support of a claim as text: "one site", "3 sites", "two documents"."""
    parts = [
        _few(number, one) for number, one in ((domains, "site"), (documents, "document")) if number
    ]
    return " and ".join(parts) or "nothing yet"


def _few(number: int, one: str) -> str:
    words = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
    return f"{words.get(number, number)} {one}{'' if number == 1 else 's'}"


def readable_url(url: str) -> str:
    """Return a decoded URL without scheme and query, shortened in the middle to 80 characters."""
    parts = urlsplit(url)
    shown = unquote(f"{parts.hostname or ''}{parts.path}").strip("/")
    return shown if len(shown) <= 80 else f"{shown[:40]}…{shown[-38:]}"


def is_on_the_web(url: str) -> bool:
    """Return whether others can open a URL.

    The hosts of the sample library end in the reserved `.example`.
    """
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and not (parts.hostname or "").endswith(".example")


def format_seconds(value: float) -> str:
    """Format a duration: 0.4 s, 12 s, 3:05 min, 2:10 h."""
    if value < 10 and value % 1:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    if value >= 3600:
        return f"{int(value) // 3600}:{int(value) // 60 % 60:02d} h"
    return f"{int(value) // 60}:{int(value) % 60:02d} min"


def time_ago(moment: datetime, now: datetime) -> str:
    """Return a relative time in one unit; a date after a week."""
    passed = max(0, int((now - moment).total_seconds()))
    if passed < 10:
        return "just now"
    if passed < 60:
        return f"{passed} s ago"
    if passed < 3600:
        return f"{passed // 60} min ago"
    if passed < 86400:
        return f"{passed // 3600} h ago"
    if passed < 7 * 86400:
        return "yesterday" if passed < 2 * 86400 else f"{passed // 86400} days ago"
    return format_day(moment)


def format_partial_date(date: str) -> str:
    """Format the date of a page, which may be only a year or a month."""
    try:
        return format_day(datetime.fromisoformat(date))
    except ValueError:
        return date


def format_day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


def format_score(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
