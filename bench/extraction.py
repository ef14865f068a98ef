"""Measures text extraction: correct words, speed, and the load on the event loop.

    .venv/bin/python -m bench.extraction

Quality is measured on pages with a known body in twenty layouts, speed on pages of the Python and
PostgreSQL manuals: CPU time of one process, compared with plain trafilatura.
"""

from __future__ import annotations

import asyncio
import gc
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import trafilatura
from bs4 import BeautifulSoup

from bench.documentation import FOLDERS
from bench.layouts import BODY, HEADING, LAYOUTS, page
from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError
from research.extract.pool import TextPool

PAGES = 120
SOUP_PAGES = 500
# Elements to remove by hand for a reference text of the manuals.
_FRAME = (
    "head, script, style, .navheader, .navfooter, .related, .sphinxsidebar, .footer, .headerlink"
)
AT_ONCE = 4
TURNS = 5
_TICK_SECONDS = 0.005

Item = TypeVar("Item")


@dataclass(frozen=True)
class Quality:
    """The worst results over all layouts.

    `body` is the share of the body that is extracted, in words of whole sentences; `boilerplate`
    the share of the extracted text that is not part of the body.
    """

    body: float
    boilerplate: float


@dataclass(frozen=True)
class Speed:
    """Pages per second of CPU time in several turns of both candidates, alternating."""

    ours: list[float]
    trafilatura: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(a / b for a, b in zip(self.ours, self.trafilatura, strict=True))


def measure_quality() -> Quality:
    measured = [_quality(extract_text(page(name), "text/html", "").text) for name in LAYOUTS]
    return Quality(min(each.body for each in measured), max(each.boilerplate for each in measured))


def _quality(text: str) -> Quality:
    rest = " ".join(text.split())
    found = sum(len(sentence.split()) for sentence in BODY if sentence in rest)
    for known in (*BODY, HEADING):
        rest = rest.replace(known, "")
    return Quality(found / sum(len(sentence.split()) for sentence in BODY), len(rest) / len(text))


def measure_against_soup() -> list[tuple[float, str]]:
    """Return (share, page), worst first.

    The share is that of the words which BeautifulSoup finds in the main part of the page.
    """
    return sorted((_soup_share(path), path.name) for path in sample(SOUP_PAGES))


def _soup_share(path: Path) -> float:
    soup = BeautifulSoup(re.sub(rb"^\s*<\?xml[^>]*>", b"", path.read_bytes()), "lxml")
    for element in soup.select(_FRAME):
        element.decompose()
    wanted = Counter(re.findall(r"\w+", soup.get_text(" ")))
    try:
        text = extract_text(path.read_bytes(), "text/html", "").text
    except EmptyPageError:
        text = ""
    found = Counter(re.findall(r"\w+", text))
    return (wanted & found).total() / wanted.total() if wanted else 1.0


def measure_speed() -> Speed:
    bodies = [path.read_bytes() for path in sample()]
    texts = [body.decode("utf-8", "replace") for body in bodies]
    speed = Speed([], [])
    for _ in range(TURNS):
        speed.ours.append(_rate(lambda body: extract_text(body, "text/html", ""), bodies))
        speed.trafilatura.append(_rate(trafilatura.extract, texts))
    return speed


def sample(pages: int = PAGES) -> list[Path]:
    """Return pages from all parts of both manuals, the same for every call."""
    paths = [path for folder in FOLDERS for path in sorted(folder.rglob("*.html"))]
    return paths[:: max(1, len(paths) // pages)][:pages]


def _rate(read: Callable[[Item], object], pages: list[Item]) -> float:
    read(pages[0])
    gc.collect()
    started = time.process_time()
    for each in pages:
        read(each)
    return len(pages) / (time.process_time() - started)


async def measure_loop() -> float:
    """Return the longest delay of the event loop while pages were read, in ms.

    A late tick counts by the CPU time of this process in between if that is less, which excludes
    other programs' turns.
    """
    bodies = [path.read_bytes() for path in sample()]
    longest = 0.0
    with TextPool() as pool:
        await _read(pool, bodies[:AT_ONCE])
        task = asyncio.ensure_future(_read(pool, bodies))
        while not task.done():
            before, spent = time.perf_counter(), time.process_time()
            await asyncio.sleep(_TICK_SECONDS)
            late = time.perf_counter() - before - _TICK_SECONDS
            longest = max(longest, min(late, time.process_time() - spent))
        await task
    return longest * 1000


async def _read(pool: TextPool, bodies: Iterable[bytes]) -> None:
    waiting = iter(bodies)

    async def reader() -> None:
        for body in waiting:
            await pool.extract(body, "text/html", "", timeout_seconds=60)

    await asyncio.gather(*(reader() for _ in range(AT_ONCE)))


def main() -> None:
    quality, speed, held = measure_quality(), measure_speed(), asyncio.run(measure_loop())
    print(f"worst layout: body {quality.body:.3f}, boilerplate {quality.boilerplate:.3f}")
    worst = measure_against_soup()
    print("least of BeautifulSoup's main words:", *(f"{n} {share:.2f}" for share, n in worst[:8]))
    ours, theirs = statistics.median(speed.ours), statistics.median(speed.trafilatura)
    print(f"pages a second of CPU: {ours:.0f}, trafilatura {theirs:.0f}: {speed.ratio:.1f} times")
    print(f"the loop was held up for {held:.0f} ms at most")


if __name__ == "__main__":
    main()
