"""Links to reports: who may make them, what readers without an account see, and what they don't."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from io import BytesIO

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pypdf import PdfReader
from pytest_django import Settings

from dashboard.contexts.report import SHARED_FORMATS
from dashboard.exports import FORMATS, PASTE
from dashboard.markdown.sources import shareable
from research.models import EvidenceSource, PageText, Report, Run, ShareLink, Thread
from research.services import deleting, people
from tests.dashboard.conftest import QUOTE, URL, add_evidence, add_report, make_run
from tests.dashboard.test_run_page import count_queries

NOT_QUOTED = "It is slow."
"""Stands in the stored copy beside the quote."""
DOCUMENT = "file:///The%20mill/leases/oak.md"
REPORT = f"""# How old do oaks get?

**Short answer.** Oaks live for about 600 years. [1]

## Age

They grow slowly. {QUOTE} [1]

## Sources

### Cited

- [1] Oak, trees.test: <{URL}>
"""
PANEL = {"HX-Request": "true", "HX-Target": "citation-panel"}


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve")


@pytest.fixture
def report(eve: User) -> Run:
    """A finished run of a person who is no administrator."""
    run = make_run(eve, "completed", termination_reason="quality_met", round=1)
    add_evidence(run, 1)
    add_report(run, REPORT)
    return run


@pytest.fixture
def link(report: Run, eve: User) -> str:
    """The path of the shared report."""
    return f"/s/{people.share_report(eve, report).token}/"


@pytest.fixture
def private(report: Run) -> Run:
    """The report cites a document of a collection, and lists another one that it doesn't cite."""
    EvidenceSource.objects.update(
        url=DOCUMENT, domain="The mill", independence_key=DOCUMENT, title="Oak lease"
    )
    PageText.objects.update(scope="collection:The mill")
    cited = REPORT.replace(f"Oak, trees.test: <{URL}>", f"Oak lease, The mill: <{DOCUMENT}>")
    unused = "### Read but not used\n\n- Debts, The mill: <file:///The%20mill/debts.md>"
    citations = [{"marker": 1, "evidence_ids": ["E1"], "url": DOCUMENT}]
    Report.objects.update(markdown=f"{cited}\n{unused}\n", citations=citations)
    return report


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def read(address: str, **headers: str) -> str:
    """Return the HTML of a page as an anonymous client gets it."""
    answer = Client(headers=headers).get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def share_page(run: Run) -> str:
    return f"/runs/{run.public_id}/share/"


# --- making and revoking ----------------------------------------------------------------------


@pytest.mark.requirement("F33")
def test_its_owner_shares_a_report_and_stops_sharing_it(report: Run, eve: User) -> None:
    client = signed_in(eve)
    assert "Create link" in client.get(share_page(report)).content.decode()
    client.post(share_page(report))
    page = BeautifulSoup(client.get(share_page(report)).content, "html.parser")
    field = page.select_one("#share-address")
    assert field is not None and field.has_attr("readonly") and page.select_one(".share time")
    address = str(field["value"])
    shared = Client().get(address)
    assert shared.status_code == 200
    assert b'data-run-shows="ended outcome report answer"' in shared.content, "the bar has its room"
    assert Client().head(address).status_code == 200
    client.post(f"{share_page(report)}stop/")
    assert Client().get(address).status_code == 404
    client.post(share_page(report))
    token = ShareLink.objects.get().token
    assert token not in address and Client().get(f"/s/{token}/").status_code == 200
    assert Client().get(address).status_code == 404


def test_a_shared_report_says_that_the_model_did_not_write_it(report: Run, link: str) -> None:
    assert "did not write this report" not in read(link)
    report.usage = {"fallbacks": {"draft": {"no answer": 1}}}
    report.save(update_fields=["usage"])
    told = read(link)
    assert "did not write this report" in told and "Reason: no answer." in told
    assert "Write it with the model" not in told


def test_sharing_twice_keeps_the_link(report: Run, eve: User) -> None:
    first = people.share_report(eve, report)
    assert people.share_report(eve, report).token == first.token


def test_a_token_has_more_random_bits_than_anyone_can_guess(report: Run, eve: User) -> None:
    tokens = set()
    for _ in range(3):
        token = people.share_report(eve, report).token
        assert 8 * len(urlsafe_b64decode(token)) >= 128
        tokens.add(token)
        people.stop_sharing(eve, report)
    assert len(tokens) == 3


def test_nobody_else_shares_or_revokes_it(report: Run, link: str) -> None:
    other = signed_in(User.objects.create_user("bob"))
    for address in (share_page(report), f"{share_page(report)}stop/"):
        assert other.post(address).status_code == 404
        assert Client().post(address).headers["Location"].startswith("/sign-in/")
    assert other.get(share_page(report)).status_code == 404
    assert Client().get(link).status_code == 200


def test_an_administrator_shares_it_and_its_owner_sees_who_did(
    report: Run, eve: User, client: Client
) -> None:
    client.post(share_page(report))
    assert " by local." in signed_in(eve).get(share_page(report)).content.decode()
    assert " by local." not in client.get(share_page(report)).content.decode()


def test_sharing_and_revoking_need_a_csrf_token(report: Run, eve: User, link: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(eve)
    assert browser.post(share_page(report)).status_code == 403
    assert browser.post(f"{share_page(report)}stop/").status_code == 403
    assert browser.get(f"{share_page(report)}stop/").headers["Location"] == share_page(report)
    assert Client().get(link).status_code == 200


@pytest.mark.parametrize(("status", "text"), [("researching", REPORT), ("completed", "")])
def test_only_a_finished_report_is_shared(eve: User, status: str, text: str) -> None:
    run = make_run(eve, status)
    add_evidence(run, 1)
    add_report(run, text)
    page = signed_in(eve).post(share_page(run), follow=True).content.decode()
    assert "Only a finished report can be shared." in page and "Create link" not in page
    assert not ShareLink.objects.exists()


def test_the_page_of_the_run_says_that_it_is_shared(report: Run, eve: User) -> None:
    client, page = signed_in(eve), f"/runs/{report.public_id}/"

    def offered() -> str:
        found = BeautifulSoup(client.get(page).content, "html.parser").select_one(
            f'.take-along a[href="{share_page(report)}"]'
        )
        return found.get_text(strip=True) if found else ""

    assert offered() == "Share"
    people.share_report(eve, report)
    assert offered() == "Shared"


def test_an_installation_may_forbid_sharing(
    report: Run, eve: User, link: str, settings: Settings
) -> None:
    settings.SHARE_REPORTS = False
    client = signed_in(eve)
    assert Client().get(link).status_code == 404
    assert share_page(report) not in client.get(f"/runs/{report.public_id}/").content.decode()
    page = client.post(share_page(report), follow=True).content.decode()
    assert "Sharing reports is turned off on this server." in page
    settings.SHARE_REPORTS = True
    assert Client().get(link).status_code == 200


def test_the_address_is_the_one_that_others_use(
    report: Run, eve: User, link: str, settings: Settings
) -> None:
    client = signed_in(eve)
    settings.ALLOWED_HOSTS = ["localhost", "research.lan"]
    page = client.get(share_page(report), headers={"Host": "localhost:8000"}).content.decode()
    assert f'value="http://localhost:8000{link}"' in page and "Only this machine" in page
    page = client.get(share_page(report), headers={"Host": "research.lan"}).content.decode()
    assert f'value="http://research.lan{link}"' in page and "Only this machine" not in page
    settings.PUBLIC_URL = "https://research.example.org/"
    page = client.get(share_page(report), headers={"Host": "localhost:8000"}).content.decode()
    assert f'value="https://research.example.org{link}"' in page and "Only this mac" not in page


# --- when a link works ------------------------------------------------------------------------


def test_a_deleted_run_is_no_longer_shared(report: Run, eve: User, link: str) -> None:
    thread = Thread.objects.filter(pk=report.thread_id)
    thread.update(deleted_at=timezone.now())
    assert Client().get(link).status_code == 404
    thread.update(deleted_at=None)
    assert Client().get(link).status_code == 200
    deleting.delete_run(eve, report)
    for page in ("", "citations/1/", "export/md"):
        assert Client().get(f"{link}{page}").status_code == 404


def test_archiving_a_thread_only_tidies_the_list(report: Run, link: str) -> None:
    Thread.objects.filter(pk=report.thread_id).update(archived=True)
    assert Client().get(link).status_code == 200


def test_the_links_of_a_deactivated_account_are_closed(
    report: Run, eve: User, link: str, admin: User
) -> None:
    User.objects.filter(pk=eve.pk).update(is_active=False)
    assert Client().get(link).status_code == 404
    anew = people.share_report(admin, report)
    assert Client().get(f"/s/{anew.token}/").status_code == 200


def test_a_run_that_goes_on_is_not_shared_meanwhile(report: Run, link: str) -> None:
    Run.objects.update(status="researching")
    for page in ("", "citations/1/", "export/md"):
        assert Client().get(f"{link}{page}").status_code == 404


# --- what readers see -------------------------------------------------------------------------


@pytest.mark.requirement("F33")
def test_a_reader_sees_the_report_with_its_citations(report: Run, link: str) -> None:
    page = BeautifulSoup(read(link), "html.parser")
    assert page.h1 and page.h1.get_text() == report.question
    assert page.select_one(".badge .state") and page.select_one(".account")
    marker = page.select_one(".answer .cite a")
    assert marker is not None and QUOTE in str(marker["title"])
    for headers in ({}, PANEL):
        shown = BeautifulSoup(read(f"{link}citations/1/", **headers), "html.parser")
        assert QUOTE in shown.get_text() and NOT_QUOTED in shown.get_text()
        assert shown.select_one("mark") and not shown.select("form, input, textarea")


@pytest.mark.requirement("F33")
@pytest.mark.parametrize("page", ["", "citations/1/", "citations/9/"])
def test_a_reader_finds_no_way_to_anything_else(
    report: Run, eve: User, link: str, page: str
) -> None:
    other = make_run(eve, "completed", question="What does eve keep to herself?")
    Run.objects.filter(pk=other.pk).update(thread=report.thread, parent=report)
    Thread.objects.update(name="Plans for the forest", folder="Secrets")
    html = Client().get(f"{link}{page}").content.decode()
    for hidden in ("eve", other.public_id, "Plans for the forest", "Secrets"):
        assert not re.search(rf"\b{hidden}\b", html)
    found = BeautifulSoup(html, "html.parser")
    ways = [str(each[name]) for name in WAYS for each in found.find_all(attrs={name: True})]
    fields = "input:not(.switch, [name=quotes]), textarea"
    assert ways and not found.select(f"form, {fields}, [ws-connect]")
    assert [way for way in ways if not way.startswith((link, "#", "/static/", URL))] == []


WAYS = ("href", "src", "action", "formaction", "hx-get", "hx-post", "data-copy")
"""Attributes with addresses."""


def test_everyone_sees_the_same(report: Run, eve: User, link: str, client: Client) -> None:
    for page in (link, f"{link}citations/1/"):
        told = read(page)
        for reader in (signed_in(eve), client):
            assert reader.get(page).content.decode() == told


@pytest.mark.parametrize(
    "page", ["", "citations/1/", "citations/9/", "export/md", "export/pdf", "export/json"]
)
def test_no_answer_is_indexed_kept_or_named_to_other_sites(link: str, page: str) -> None:
    answer = Client().get(f"{link}{page}")
    check_headers(answer)
    assert not answer.cookies


def test_what_is_not_shared_says_so_without_a_way_to_sign_in(link: str) -> None:
    answer = Client().get("/s/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/")
    assert answer.status_code == 404
    check_headers(answer)
    html = answer.content.decode()
    assert "Nothing is shared at this address" in html and 'name="robots"' in html
    assert {each["href"] for each in BeautifulSoup(html, "html.parser").find_all("a")} == {"#main"}


def check_headers(answer: HttpResponse) -> None:
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("page", ["", "citations/1/", "export/md"])
def test_a_shared_report_is_only_read(link: str, page: str) -> None:
    for method in ("post", "put", "delete"):
        assert getattr(Client(), method)(f"{link}{page}").status_code == 405


def test_a_link_opens_no_other_run(report: Run, eve: User, link: str) -> None:
    other = make_run(eve, "completed")
    add_evidence(other, 2)
    citations = [{"marker": 2, "evidence_ids": ["E2"], "url": URL}]
    Report.objects.create(
        run=other, number=1, markdown=f"{QUOTE} [2]", citations=citations, evidence_digest="0"
    )
    assert signed_in(eve).get(f"/runs/{other.public_id}/citations/2/").status_code == 200
    assert Client().get(f"{link}citations/2/").status_code == 404
    assert Client().get(f"/s/{report.public_id}/").status_code == 404
    assert Client().get(f"/s/{other.public_id}/").status_code == 404


@pytest.mark.parametrize(
    "page", ["sources/", "evidence/", "activity/", "research/", "citations/1/judge/", "desk/"]
)
def test_the_other_pages_of_a_run_have_no_shared_address(link: str, page: str) -> None:
    assert Client().get(f"{link}{page}").status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_evidence(
    report: Run, eve: User, link: str
) -> None:
    few = [count_queries(lambda page=page: read(page)) for page in (link, f"{link}citations/1/")]
    for number in range(2, 12):
        add_evidence(report, number)
    labels = [f"E{number}" for number in range(1, 12)]
    Report.objects.update(citations=[{"marker": 1, "evidence_ids": labels, "url": URL}])
    many = [count_queries(lambda page=page: read(page)) for page in (link, f"{link}citations/1/")]
    assert many == few and max(many) < 30


# --- private sources --------------------------------------------------------------------------


@pytest.mark.requirement("F33")
def test_of_a_document_only_the_cited_quotes_are_shared(private: Run, eve: User, link: str) -> None:
    for page, headers in ((f"{link}citations/1/", {}), (f"{link}citations/1/", PANEL), (link, {})):
        html = read(page, **headers)
        assert QUOTE in html
        for hidden in (NOT_QUOTED, "The end", "leases", "Debts", "debts.md", "file:"):
            assert hidden not in html
    shown = read(f"{link}citations/1/")
    assert "This source is private" in shown and "word for word in the stored copy" in shown
    own = signed_in(eve).get(f"/runs/{private.public_id}/citations/1/").content.decode()
    assert NOT_QUOTED in own and "The mill/leases/oak.md" in own


def test_the_page_says_so_before_a_document_is_shared(private: Run, eve: User) -> None:
    client = signed_in(eve)
    assert "cites private documents" in client.get(share_page(private)).content.decode()


def test_a_report_on_public_pages_has_no_such_warning(report: Run, eve: User) -> None:
    page = signed_in(eve).get(share_page(report)).content.decode()
    assert "cites private documents" not in page


def test_a_page_of_a_private_host_is_as_private_as_a_document(
    report: Run, eve: User, link: str
) -> None:
    PageText.objects.update(scope=f"private:{eve.pk}")
    html = read(f"{link}citations/1/")
    assert QUOTE in html and NOT_QUOTED not in html
    assert "cites private documents" in signed_in(eve).get(share_page(report)).content.decode()


def test_a_report_lists_no_private_page_that_it_does_not_cite(settings: Settings) -> None:
    settings.FETCH_ALLOW_PRIVATE_HOSTS = ["wiki.lan:80"]
    listed = """## Sources

### Cited

- [1] Lease, The mill: <file:///The%20mill/a/lease.md?part=2>
- [2] Rents, wiki.lan: <http://wiki.lan/rents>

### Read but not used

- Oak, trees.test: <https://trees.test/oak>
- Debts, The mill: <file:///The%20mill/debts.md>

### Could not be read

- Wages, wiki.lan: <http://wiki.lan/wages>: not found

## Method

- 2 queries
"""
    assert (
        shareable(listed)
        == """## Sources

### Cited

- [1] Lease, The mill: <file:///lease.md?part=2>
- [2] Rents, wiki.lan: <http://wiki.lan/rents>

### Read but not used

- Oak, trees.test: <https://trees.test/oak>

## Method

- 2 queries
"""
    )
    assert shareable(REPORT) == REPORT


# --- downloads --------------------------------------------------------------------------------


def text_of(extension: str, content: bytes) -> str:
    if extension != "pdf":
        return content.decode()
    return " ".join(page.extract_text() for page in PdfReader(BytesIO(content)).pages)


@pytest.mark.parametrize("extension", SHARED_FORMATS)
def test_a_reader_saves_the_report(report: Run, link: str, extension: str) -> None:
    answer = Client().get(f"{link}export/{extension}")
    assert answer.headers["Content-Type"] == FORMATS[extension].content_type
    assert QUOTE in " ".join(text_of(extension, answer.content).split())
    assert f"{link}export/{extension}" in read(link)


@pytest.mark.parametrize("extension", [*SHARED_FORMATS, PASTE])
def test_a_saved_report_has_no_more_of_a_document_than_its_page(
    private: Run, eve: User, link: str, extension: str
) -> None:
    saved = text_of(extension, Client().get(f"{link}export/{extension}").content)
    assert QUOTE in " ".join(saved.split())
    for hidden in (NOT_QUOTED, "leases", "Debts", "The%20mill"):
        assert hidden not in saved
    own = signed_in(eve).get(f"/runs/{private.public_id}/export/{extension}").content
    assert "Debts" in text_of(extension, own)


def test_no_other_format_is_shared(link: str) -> None:
    for extension in {*FORMATS, "exe"} - {*SHARED_FORMATS}:
        assert Client().get(f"{link}export/{extension}").status_code == 404
        assert f"export/{extension}" not in read(link)


# --- administrators and programs --------------------------------------------------------------


def test_an_administrator_lists_links_and_revokes_them(
    report: Run, link: str, client: Client
) -> None:
    listed = client.get(reverse("admin:research_sharelink_changelist")).content.decode()
    row = ShareLink.objects.get()
    page = client.get(reverse("admin:research_sharelink_change", args=[row.pk])).content.decode()
    for html in (listed, page):
        assert report.question in html and "eve" in html and row.token not in html
    assert client.get(reverse("admin:research_sharelink_add")).status_code == 403
    sent = client.post(reverse("admin:research_sharelink_delete", args=[row.pk]), {"post": "yes"})
    assert sent.status_code == 302
    assert Client().get(link).status_code == 404
