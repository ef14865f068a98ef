"""The engine's enums as people read them: a word, an icon and a tone, never the name itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote, urlsplit

from research.engine.records import Mark, Stage, Status, StopReason
from research.engine.wording import mark_words


@dataclass(frozen=True)
class State:
    """`tone` is a CSS class that only repeats what icon and word say."""

    word: str
    icon: str
    tone: str


STATUS = {
    Status.QUEUED: State("Waiting its turn", "clock", "idle"),
    Status.INTAKE: State("Reading the question", "spinner", "busy"),
    Status.AWAITING_CLARIFICATION: State("Has a question for you", "question", "asks"),
    Status.AWAITING_APPROVAL: State("Plan waits for you", "question", "asks"),
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
    "fair": State("With a loss", "half", "fair"),
    "bad": State("Does not work", "cross", "bad"),
    "idle": State("Not set", "none", "idle"),
}
COLLECTION = {
    "waiting": State("Waits to be read", "clock", "busy"),
    "indexing": State("Reading", "spinner", "busy"),
    "failed": State("Cannot be read", "cross", "bad"),
    "empty": State("No files yet", "circle", "idle"),
    "ready": State("Ready", "check", "good"),
}
GOES_ON = State("Going on", "spinner", "busy")
NOTHING_FOUND = State("Nothing found", "none", "idle")
PAGES_UNREADABLE = State("Pages unreadable", "half", "fair")
MARK = {
    Mark.ANSWERED: ("check", "good"),
    Mark.ONE_SOURCE: ("half", "fair"),
    Mark.PASSAGES: ("half", "fair"),
    Mark.CLOSE: ("circle", "idle"),
    Mark.DISPUTED: ("split", "bad"),
    Mark.OPEN: ("circle", "idle"),
    Mark.NOT_FOUND: ("none", "idle"),
    Mark.NOT_SEARCHED: ("circle", "idle"),
}
"""How each is shown: icon and tone."""
STAGE = {
    Stage.OVERVIEW: "Overview",
    Stage.DEEP_RESEARCH: "In depth",
    Stage.VERIFICATION: "Checking",
    Stage.REPORT: "Report",
}
LEFT_OUT = State("Left out", "none", "idle")
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
    "not_to_be_had": State("not to be had", "none", "fair"),
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


def status(value: str, reason: str | None = None) -> State:
    """`reason` is the stop reason: an honest end without a report is no success."""
    if value == Status.COMPLETED and reason == StopReason.NOTHING_FOUND:
        return NOTHING_FOUND
    if value == Status.COMPLETED and reason == StopReason.PAGES_UNREADABLE:
        return PAGES_UNREADABLE
    return STATUS[Status(value)]


def aspect(mark: Mark, sources: int) -> State:
    """An answered sub-question says on how much it rests."""
    said = mark_words(mark, sources)
    return State(said[:1].upper() + said[1:], *MARK[mark])


def count(number: int, one: str, many: str = "") -> str:
    """`count(2, "page")` → "2 pages"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(octets: int) -> str:
    """How large a file is: 812 bytes, 34 KB, 5.2 MB."""
    if octets < 1024:
        return count(octets, "byte")
    if octets < 1024 * 1024:
        return f"{octets / 1024:.0f} KB"
    return f"{octets / (1024 * 1024):.1f} MB"


def support(domains: int, documents: int) -> str:
    """What a claim rests on: "one site", "3 sites", "two documents"."""
    parts = [
        _few(number, one) for number, one in ((domains, "site"), (documents, "document")) if number
    ]
    return " and ".join(parts) or "nothing yet"


def _few(number: int, one: str) -> str:
    words = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
    return f"{words.get(number, number)} {one}{'' if number == 1 else 's'}"


def place(url: str) -> str:
    """An address as people say it: no scheme, no query, decoded."""
    parts = urlsplit(url)
    shown = unquote(f"{parts.hostname or ''}{parts.path}").strip("/")
    return shown if len(shown) <= 80 else f"{shown[:40]}…{shown[-38:]}"


def is_on_the_web(url: str) -> bool:
    """Whether others can open it: the sample library's hosts are under the reserved `.example`."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and not (parts.hostname or "").endswith(".example")


def seconds(value: float) -> str:
    """A length of time: 0.4 s, 12 s, 3:05 min, 2:10 h."""
    if value < 10 and value % 1:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    if value >= 3600:
        return f"{int(value) // 3600}:{int(value) // 60 % 60:02d} h"
    return f"{int(value) // 60}:{int(value) % 60:02d} min"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit; a date from a week on."""
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
    return day(moment)


def published(date: str) -> str:
    """A page's own date, which may be only a year or a month."""
    try:
        return day(datetime.fromisoformat(date))
    except ValueError:
        return date


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
