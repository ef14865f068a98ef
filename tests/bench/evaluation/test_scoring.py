from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.evaluation import pool
from bench.evaluation.cases import Case
from bench.evaluation.scoring import Words, answer_of, check_quotes, gold_found
from bench.evaluation.trace import Trace
from research.engine import Entry, Evidence, MemoryStore, QuoteSource, Report
from tests.bench.evaluation.planted import CHAIN, PLAIN

AT = datetime(2026, 1, 1, tzinfo=UTC)


def stored(store: MemoryStore, url: str, text: str) -> str:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    store.texts[sha256] = text
    store.entries[f"fetch/{url}", 1] = Entry(
        f"fetch/{url}", 1, "fetch", "done", "", {"url": url}, {"sha256": sha256}
    )
    return sha256


def quoted(url: str, text: str, quote: str) -> QuoteSource:
    start = text.index(quote)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return QuoteSource(url, "", "", url, quote, start, start + len(quote), sha256, AT)


def test_words_are_found_past_spacing_case_and_punctuation() -> None:
    text = Words("Heading\n\nThe  Skelva — a RIVER (1,200 km) — flows.")
    assert text.find("the skelva, a river") == (9, 30)
    assert text.hold("1,200 km")
    assert not text.hold("Skelv")
    assert not text.hold("…")


async def test_gold_is_told_by_text_where_titles_repeat() -> None:
    case = Case.model_validate(PLAIN)
    right, wrong = (pool.page_url(page) for page in case.pages[:2])
    store, trace = MemoryStore(), Trace()
    for number, (url, page) in enumerate([(wrong, case.pages[1]), (right, case.pages[0])], 1):
        stored(store, url, page.text)
        trace.read[url] = trace.named[url] = number
    (found,) = await gold_found(case, trace, store)
    assert (found.named, found.fetched, found.quoted) == (2, 2, None)


async def test_gold_counts_as_quoted_where_a_quote_lies_in_it() -> None:
    case = Case.model_validate(CHAIN)
    url, text = pool.page_url(case.pages[0]), case.pages[0].text
    store, trace = MemoryStore(), Trace()
    stored(store, url, text)
    trace.read[url] = 1
    beside = quoted(url, text, "Orla Venn is a painter of harbours and fog.")
    trace.quotes[url, beside.start, beside.end] = (1, beside)
    assert [gold.quoted for gold in await gold_found(case, trace, store)] == [None, None]
    inside = quoted(url, text, "born in Tarnholt")
    trace.quotes[url, inside.start, inside.end] = (2, inside)
    assert [gold.quoted for gold in await gold_found(case, trace, store)] == [2, None]


def planted_quote(home: Path) -> tuple[pool.Library, MemoryStore, QuoteSource]:
    page = Case.model_validate(CHAIN).pages[0]
    library, store = pool.build([page], home), MemoryStore()
    stored(store, pool.page_url(page), page.text)
    return library, store, quoted(pool.page_url(page), page.text, page.sentences[1])


def precision(library: pool.Library, store: MemoryStore, quote: QuoteSource) -> float:
    trace = Trace()
    trace.quotes[quote.url, quote.start, quote.end] = (1, quote)
    check = check_quotes(trace, store, library)
    assert check.checked == 1
    return check.right / check.checked


def test_a_true_quote_is_right(tmp_path: Path) -> None:
    assert precision(*planted_quote(tmp_path)) == 1


def test_an_invented_or_displaced_quote_is_wrong(tmp_path: Path) -> None:
    library, store, quote = planted_quote(tmp_path)
    assert precision(library, store, replace(quote, quote=quote.quote.replace("1931", "1913"))) == 0
    assert precision(library, store, replace(quote, start=quote.start - 1)) == 0
    assert precision(library, store, replace(quote, text_sha256="0" * 64)) == 0


def test_a_quote_that_is_stored_but_not_on_the_page_is_wrong(tmp_path: Path) -> None:
    library, store, _ = planted_quote(tmp_path)
    url = pool.page_url(Case.model_validate(CHAIN).pages[0])
    invented = "Orla Venn was born at sea."
    stored(store, url, invented)
    assert precision(library, store, quoted(url, invented, invented)) == 0


def answered(short: str, **more: Any) -> Trace:
    return Trace(report=Report(f"# {CHAIN['question']}\n\n{short}", short_answer=short), **more)


def test_an_answer_is_held_whatever_its_case_and_marks() -> None:
    case = Case.model_validate(CHAIN)
    answer = answer_of(case, answered("It is THE “Skelva” [1]."))
    assert answer is not None
    assert (answer.held, answer.in_report, answer.in_quotes) == (True, True, False)


def test_a_marker_is_no_answer() -> None:
    case = Case.model_validate({**CHAIN, "answers": ["7"]})
    answer = answer_of(case, answered("It was long ago [7]."))
    assert answer is not None
    assert not answer.held


def test_an_answer_in_a_quote_alone_is_told_apart() -> None:
    case = Case.model_validate(CHAIN)
    text = "A river called the Skelva flows."
    record = Evidence("E1", text, "A1", 1, (quoted("file:///pages/x", text, text),), 0.5)
    answer = answer_of(case, answered("", evidence={"E1": record}))
    assert answer is not None
    assert (answer.held, answer.in_quotes) == (False, True)


def test_yes_or_no_is_not_looked_for() -> None:
    assert answer_of(Case.model_validate(PLAIN), answered("yes")) is None
