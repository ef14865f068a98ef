"""Large journal values and page texts, compressed in SQLite; rows of earlier versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from research.engine.journal import Entry
from research.models import JournalEntry, PageText, Run, RunPage
from research.models.base import key_digest
from research.models.journal import PACKED, SMALL_BYTES, pack_json, unpack_json
from research.worker.journal_store import load_entries
from tests.dashboard.conftest import add_evidence, make_run

PROMPT = "Read these pages and quote what answers the question, word for word. " * 60
TEXT = "An oak lives for about 600 years. Dass sie älter wird, ist selten. " * 60
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)
)


LARGE = st.tuples(st.text(min_size=1), st.binary(min_size=SMALL_BYTES)).map(
    lambda drawn: drawn[0] * SMALL_BYTES + drawn[1].decode("latin-1")
)
"""Drawing each character of a large text takes much longer than packing it."""


@given(st.dictionaries(st.text(), VALUES | LARGE))
@pytest.mark.slow
def test_every_value_comes_back(value: dict[str, Any]) -> None:
    assert unpack_json(json.loads(json.dumps(pack_json(value)))) == value


def test_small_values_stay_as_they_are() -> None:
    assert pack_json({"sha256": "ab", "kind": None}) == {"sha256": "ab", "kind": None}


def entry_of(run: Run, place: str, request: Any, answer: Any) -> JournalEntry:
    return JournalEntry.objects.create(
        run=run,
        place=place,
        place_key=key_digest(place),
        attempt=1,
        kind="model",
        status="done",
        request=request,
        answer=answer,
    )


def stored(column: str, table: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {table} ORDER BY 1")
        return [row[0] for row in cursor.fetchall()]


def test_a_large_entry_is_smaller_and_its_task_is_still_found(run: Run) -> None:
    request = {"task": "read", "prompt": PROMPT}
    entry_of(run, "read/1", request, [{"quote": TEXT}])
    [loaded] = load_entries(run.pk)
    assert isinstance(loaded, Entry)
    assert (loaded.request, loaded.answer) == (request, [{"quote": TEXT}])
    assert run.journal.values_list(F("request__task"), flat=True).get() == "read"
    if connection.vendor == "sqlite":
        [written] = stored("request", "research_journalentry")
        assert PACKED in written and len(written) < len(PROMPT) / 4


def test_entries_of_earlier_versions_are_read(run: Run) -> None:
    entry = entry_of(run, "read/1", {}, None)
    request, answer = {"task": "read", "prompt": PROMPT}, {"text": TEXT}
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE research_journalentry SET request = %s, answer = %s WHERE id = %s",
            [json.dumps(request), json.dumps(answer), entry.pk],
        )
    [loaded] = load_entries(run.pk)
    assert (loaded.request, loaded.answer) == (request, answer)


@pytest.mark.django_db
def test_page_texts_old_and_new_are_read_alike() -> None:
    PageText.objects.create(id="new", sha256="new", text=TEXT)
    PageText.objects.create(id="old", sha256="old", text="x")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE research_pagetext SET text = %s WHERE id = 'old'", [TEXT])
    assert list(PageText.objects.values_list("text", flat=True)) == [TEXT, TEXT]
    if connection.vendor == "sqlite":
        sizes = stored("LENGTH(CAST(text AS BLOB))", "research_pagetext")
        assert sizes[0] < sizes[1] / 4


def test_bulk_writes_are_compressed_too(run: Run) -> None:
    rows = [PageText(id=str(n), sha256=str(n), text=f"{n} {TEXT}") for n in range(3)]
    PageText.objects.bulk_create(rows, ignore_conflicts=True)
    texts = PageText.objects.order_by("pk").values_list("text", flat=True)
    assert list(texts) == [f"{n} {TEXT}" for n in range(3)]
    if connection.vendor == "sqlite":
        assert {type(text) for text in stored("text", "research_pagetext")} == {bytes}


def test_a_reviewer_sees_the_quote_in_a_compressed_copy(
    admin_client: Client, admin_user: User
) -> None:
    run = make_run(admin_user, "completed")
    evidence = add_evidence(run, 1)
    quote, start = "It is a slow tree.", 2_000
    text = f"{TEXT[:start]}{quote}{TEXT[start:]}"
    page = PageText.objects.create(id="a", sha256="a", text=text)
    RunPage.objects.create(run=run, page=page, url="https://a.test", url_key="a")
    place = {"start": start, "end": start + len(quote)}
    evidence.quotes.update(quote=quote, text_sha256="a", **place)
    shown = admin_client.get(f"/admin/research/evidence/{evidence.pk}/change/").text
    assert f"{text[start - 50 : start]}<mark>{quote}</mark>{text[start + 18 : start + 68]}" in shown
