"""Sources as a reader meets them: publisher, kind and date beside each, doubts at the sentence."""

from __future__ import annotations

from research.engine.evidence.ledger import Ledger
from research.engine.records import Source
from research.engine.report.draft import Statement
from research.engine.report.markdown_escape import escape_markdown
from research.engine.report.parts.dating import DAY, newest_date
from research.engine.report.report_i18n import Labels


def render_source(ledger: Ledger, source: Source, words: Labels) -> str:
    """Return title, publisher, kind, date and address of a source, and what became of it."""
    title = escape_markdown((source.title or source.url).replace("[", "(").replace("]", ")"))
    page = ledger.pages.get(source.url)
    publisher = page.site if page and page.site not in {"", source.title} else ""
    told = [
        escape_markdown(publisher),
        source.domain,
        "" if source.kind in {"unknown", "document"} else words[f"kind_{source.kind}"],
        (source.published or "")[:DAY],
    ]
    reason = f": {source.reason}" if source.reason else ""
    return f"{', '.join(filter(None, (title, *told)))}: <{source.url}>{reason}"


def doubt_mark(statement: Statement, ledger: Ledger, words: Labels) -> str:
    """Return a mark for a statement that another source contradicts, with the date of that one
    where it is the newer; "" where nothing does, and where the statement gives both sides.
    """
    records = ledger.book.records
    cited = [records[i] for i in statement.evidence if i in records]
    rivals = [
        records[i]
        for record in cited
        for i in record.contradicts
        if i in records and i not in statement.evidence
    ]
    if statement.quoted or not rivals:
        return ""
    own, other = max(map(newest_date, cited)), max(map(newest_date, rivals))
    said = words["otherwise"].format(date=other) if own and other > own else words["disagree"]
    return f" (⚠ {said})"
