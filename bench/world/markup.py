"""Pages as HTML, with the boilerplate of their site."""

from __future__ import annotations

import random
from html import escape

from bench.world import filler
from bench.world.facts import Page, Site

HUGE = 1_000_000
DOCUMENT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<title>{title}</title>
<meta name="description" content="{motto}">
<meta property="og:site_name" content="{site}">
<meta property="article:published_time" content="{published}T08:00:00Z">
<style>body {{ font: 16px serif; margin: 2rem }} nav a {{ padding: 4px }}</style>
<script>window.visits = (window.visits || 0) + 1;</script>
</head><body>
<div class="cookie-banner" role="dialog"><p>{cookies}</p><button>Accept</button></div>
<header><a href="/">{site}</a> <span>{motto}</span></header>
<nav><ul>{links}</ul></nav>
<main><article><h1>{title}</h1>
<p class="byline">Published on {published}</p>
{body}
</article></main>
<aside><h2>Also on this site</h2><ul>{related}</ul></aside>
<footer><p>All rights reserved. Terms of use. Privacy. Contact the editors of {site}.</p></footer>
</body></html>
"""


def document(page: Page, site: Site, others: list[Page]) -> str:
    """Return the page as its site serves it; `others` are pages of the site to link to."""
    rng = random.Random(f"markup/{page.path}")
    related = rng.sample(others, min(4, len(others)))
    paragraphs = [*page.paragraphs]
    if page.trouble == "huge":
        paragraphs += filler.padding(page.path, HUGE)
    return DOCUMENT.format(
        title=escape(page.title),
        motto=escape(site.motto),
        site=escape(site.name),
        published=page.published,
        cookies=filler.COOKIES,
        links="".join(f'<li><a href="/{s.lower()}">{s}</a></li>' for s in filler.SECTIONS),
        body="\n".join(f"<p>{escape(text)}</p>" for text in paragraphs),
        related="".join(f'<li><a href="{p.path}">{escape(p.title)}</a></li>' for p in related),
    )


def nothing(site: Site) -> str:
    """Return a page with boilerplate only."""
    return (
        f"<!doctype html><html><head><title>{escape(site.name)}</title></head><body></body></html>"
    )
