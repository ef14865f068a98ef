"""Icons, states, times and counts for templates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard import titles, words
from dashboard.markdown.sources import site_in_html

register = template.Library()


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Render an icon. It accompanies a word, so it is hidden from screen readers."""
    return format_html(
        '<svg class="icon icon-{} {}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        name,
        extra,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def initial(site: str) -> SafeString:
    """Render the first letter of a site in place of its icon, which another host would see asked
    for. The name stands beside it.
    """
    letter = next(filter(str.isalpha, site), site[:1])
    return format_html('<span class="initial" aria-hidden="true">{}</span>', letter.upper())


@register.simple_tag
def site(value: words.Site) -> SafeString | str:
    """Render the name of a site, with its domain behind it in small type."""
    return site_in_html(value)


@register.simple_tag
def state(value: words.State) -> SafeString:
    return format_html(
        '<span class="state tone-{}">{}<span>{}</span></span>',
        value.tone,
        icon(value.icon),
        value.word,
    )


@register.simple_tag
def badge(value: words.State, note: str) -> SafeString:
    """Render the state of a run with what limits its answers."""
    told = format_html(' <span class="state-note">{}</span>', note) if note else ""
    return format_html("{}{}", state(value), told)


@register.simple_tag
def day(moment: datetime) -> SafeString:
    """Render a day, with the exact time as tooltip and machine-readable attribute."""
    return _time(moment, words.format_day(moment))


@register.simple_tag
def when(moment: datetime | None) -> SafeString | str:
    """Render a relative time, with the exact time as tooltip and machine-readable attribute."""
    if moment is None:
        return ""
    return _time(moment, words.time_ago(moment, timezone.now()))


def _time(moment: datetime, shown: str) -> SafeString:
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        words.format_moment(exact),
        shown,
    )


@register.simple_tag
def lasting(since: datetime) -> SafeString:
    """Render the time elapsed since a moment; the page's script keeps it ticking."""
    passed = max(0, round((timezone.now() - since).total_seconds()))
    return format_html(
        '<time datetime="{}" data-lasting>{}</time>',
        since.isoformat(),
        words.format_seconds(passed),
    )


@register.filter
def highlight(text: str, sought: Sequence[str]) -> SafeString | str:
    """Mark the words sought in a text."""
    if not sought:
        return text
    pattern = "|".join(re.escape(word) for word in sorted(sought, key=len, reverse=True))
    pieces = re.split(f"({pattern})", text, flags=re.IGNORECASE)
    marked = [
        format_html("<mark>{}</mark>", piece) if n % 2 else piece for n, piece in enumerate(pieces)
    ]
    return format_html_join("", "{}", ((piece,) for piece in marked))


@register.filter
def command(line: str) -> SafeString:
    """Render a command that breaks at spaces only, and not between an option and its value."""
    parts = re.findall(r"--?\S+ [^\s-]\S*|\S+", line)
    told = format_html_join(" ", '<span class="unbroken">{}</span>', ((part,) for part in parts))
    return format_html("<code>{}</code>", told)


@register.filter
def brief(text: str, most: int) -> str:
    """`{{ question|brief:60 }}`: a question as a title, never cut within a word."""
    return titles.short_title(text, most)


@register.filter
def shorten(text: str, most: int) -> str:
    """`{{ answer|shorten:110 }}`: the first words of a text."""
    return titles.shorten(text, most)


@register.filter
def counted(number: int, noun: str) -> str:
    """`{{ 2|counted:"page" }}` → "2 pages", with a noun of `words.NOUNS`."""
    return words.count_noun(number, noun)


@register.filter
def grouped(number: float) -> str:
    """`{{ 1200|grouped }}` → "1,200"."""
    return words.format_number(number)


@register.filter
def one_decimal(value: float | None) -> str:
    return words.format_score(value)


@register.filter
def duration(value: float) -> str:
    return words.format_seconds(value)


@register.filter
def percent(value: float | None, whole: Any = 1) -> int:
    """Return the share of `whole` in whole percent, for the width of a bar."""
    return 0 if not value or not whole else min(100, round(100 * value / float(whole)))
