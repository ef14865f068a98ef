"""Method note: searches, pages read, pages left out, what people instructed the run to do, and how
its statements were checked.
"""

from __future__ import annotations

from collections.abc import Set

from research.engine.evidence.ledger import Ledger
from research.engine.records import Checks
from research.engine.report.parts.dating import DAY
from research.engine.report.parts.sources import unused_sources
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.report_i18n import Labels

LEFT = frozenset({"refused", "failed", "empty"})


def method_note(
    ledger: Ledger,
    words: Labels,
    cited: Set[str],
    ended: str = "",
    today: str = "",
    checks: Checks | None = None,
) -> str:
    """Return the note as a section; "" if no page was read. Dates after `today`, if that is given,
    don't count. It says how statements were checked, if there are `checks`.

    `cited` are the addresses of the cited pages, `ended` says why research ended, where that is
    said nowhere else. Different queries are counted; a search asks one of them, some are made
    ahead or again.
    """
    pages = ledger.pages.values()
    if not pages:
        return ""
    dates = (page.published[:DAY] for page in pages if page.published)
    days = sorted(day for day in dates if not today or day <= today)
    codes = sorted({page.language.partition("-")[0] for page in pages if page.language})
    unused = len(unused_sources(ledger, cited))
    read = len(cited) + unused
    failed = sum(source.status in LEFT for source in ledger.sources.values())
    asked = "; ".join(f"“{escape_markdown(text)}”" for text in ledger.instructions)
    lines = (
        (
            words.count("queries_made", len(ledger.queries)) if ledger.queries else "",
            words.count("pages_read", read),
        ),
        (
            words["published_between"].format(first=words.date(days[0]), last=words.date(days[-1]))
            if days[:1] != days[-1:]
            else "",
            words["in_languages"].format(codes=", ".join(codes)) if codes else "",
        ),
        (
            words.count("unused_count", unused) if unused else "",
            words.count("failed_count", failed) if failed else "",
        ),
        (words["instructed"].format(told=asked) if asked else "",),
        (_how_checked(words, checks) if checks else "",),
        (words.count("cut", checks.cut) if checks and checks.cut else "",),
        (ended,),
    )
    told = [" · ".join(filter(None, line)) for line in lines]
    listed = "\n".join(f"- {line}" for line in told if line)
    return f"## {words['method']}\n\n{listed}"


def _how_checked(words: Labels, checks: Checks) -> str:
    """Return by what the cited statements were checked, and what that means for a reader; "" for a
    report without any.
    """
    quoted = checks.cited - checks.by_code - checks.by_model
    by_model = words.count("checked_model", checks.by_model) if checks.by_model else ""
    if by_model and checks.planted:
        found = {"found": checks.planted_found, "planted": checks.planted}
        by_model = f"{by_model}, {words['checked_planted'].format(**found)}"
    how = (
        words.count("checked_code", checks.by_code) if checks.by_code else "",
        by_model,
        words.count("checked_quoted", quoted) if quoted > 0 else "",
    )
    if not any(how):
        return ""
    told = words["checked_how"].format(how="; ".join(filter(None, how)))
    return f"{told} {words['checked_means']}"
