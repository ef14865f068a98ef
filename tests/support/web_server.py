"""A small web: one server per site with HTML pages."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.serving import LoopbackServer, Reply, path_of

PAGE = """<!doctype html>
<html lang="en"><head><title>{title}</title><meta name="description" content="A page"></head>
<body>
<nav><a href="/">Home</a> <a href="/about">About</a> <a href="/contact">Contact</a></nav>
<main><article><h1>{title}</h1>
{paragraphs}
</article></main>
<footer>Copyright notice and terms of use of this small site</footer>
</body></html>
"""


def html(title: str, *paragraphs: str) -> str:
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return PAGE.format(title=title, paragraphs=body)


class WebServer(LoopbackServer):
    """One site. `pages` maps paths to HTML; with `down` every response is a 503.

    It has no `/robots.txt`; requests for it are not logged.
    """

    def __init__(self, pages: Mapping[str, str], host: str = "127.0.0.1") -> None:
        super().__init__(host)
        self.pages = dict(pages)
        self.requests: list[str] = []
        self.down = False

    def reply(self, path: str, body: bytes) -> Reply:
        if path_of(path) == "/robots.txt" and not self.down:
            return Reply(status=404, content_type="text/plain")
        with self.lock:
            self.requests.append(self.url(path))
        page = self.pages.get(path_of(path))
        if self.down:
            return Reply(status=503, content_type="text/plain")
        if page is None:
            return Reply(b"There is no such page.", 404, "text/plain")
        return Reply(page.encode(), content_type="text/html; charset=utf-8")
