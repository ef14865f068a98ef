"""Markdown: the report as it was written, and each quote beneath its number."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.exports.contents import Citation, Contents


def render(whole: Contents) -> bytes:
    quotes = "\n\n".join("\n".join(entry(citation)) for citation in whole.citations)
    return f"{whole.markdown.rstrip()}\n\n## Quotes\n\n{quotes}\n".encode()


def entry(citation: Citation) -> Iterator[str]:
    place = " › ".join(filter(None, (citation.title, citation.section)))
    yield f"[{citation.number}] {place} ({citation.dated}): <{citation.url}>"
    for passage in citation.passages:
        yield ""
        yield from (f"> {line}".rstrip() for line in passage.quote.splitlines())
