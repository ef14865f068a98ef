"""The bundled sample library: size, hosts, and the levels that make one question need rounds."""

import json
import re
from datetime import date
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

SAMPLES = Path(__file__).resolve().parents[2] / "research" / "samples"
LIBRARY = SAMPLES / "library"
PAGES = sorted(LIBRARY.rglob("*.html"))

LEVEL_1 = (
    "chainkeepers.example/wiki/quantum-computing-risk.html",
    "cipherdesk.example/analysis/coins-at-risk-from-quantum-computing.html",
    "cipherdesk.example/features/quantum-computers-and-cryptocurrency.html",
    "coinfield-review.example/analysis/exposed-public-keys-and-quantum-computing.html",
    "ledgerlab.example/notes/quantum-computing-and-cryptocurrency-security.html",
    "ledgerlab.example/notes/shor-and-grover-for-cryptocurrency.html",
    "northgate-explainers.example/technology/harvest-now-decrypt-later.html",
    "northgate-explainers.example/technology/quantum-threat-to-cryptocurrency.html",
)
LEVEL_2 = (
    "chainkeepers.example/wiki/pay-to-public-key-outputs.html",
    "cipherdesk.example/explainers/address-reuse.html",
    "cipherdesk.example/explainers/hash-based-signatures.html",
    "coinfield-review.example/analysis/dormant-outputs.html",
    "ledgerlab.example/notes/hash-based-signature-families.html",
    "ledgerlab.example/notes/lattice-based-signatures.html",
    "signature-notes.example/schemes/ml-dsa.html",
    "signature-notes.example/schemes/slh-dsa.html",
)
LEVEL_3 = (
    "chainkeepers.example/wiki/hardware-wallet-firmware.html",
    "chainkeepers.example/wiki/migration-soft-fork.html",
    "coinfield-review.example/analysis/block-size-pressure.html",
    "coinfield-review.example/analysis/migration-timetable.html",
    "ledgerlab.example/notes/witness-data-growth.html",
    "signature-notes.example/practice/hybrid-signing-wallets.html",
)

# Stems, so that a search index that stems words keeps the levels apart too.
QUESTION_WORDS = re.compile(r"quantum|cryptocurrenc|comput|impact|secur", re.IGNORECASE)
NAMES_OF_LEVEL_2 = re.compile(
    r"lattice-based|ML-DSA|FN-DSA|hash-based|SLH-DSA|address reuse|pay-to-public-key|dormant",
    re.IGNORECASE,
)
NAMES_OF_LEVEL_3 = re.compile(
    r"migration soft fork|hybrid signing wallets|block size pressure|witness data"
    r"|hardware wallet firmware",
    re.IGNORECASE,
)
EXTERNAL_RESOURCES = (
    "script, img, iframe, video, audio, object, embed, [src], "
    "link[rel=stylesheet], link[rel=preload]"
)


def name(page: Path) -> str:
    return page.relative_to(LIBRARY).as_posix()


def soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def visible_text(path: str) -> str:
    return soup(LIBRARY / path).get_text(" ")


each_page = pytest.mark.parametrize("page", PAGES, ids=name)


def test_the_library_holds_about_fifty_pages() -> None:
    assert 45 <= len(PAGES) <= 60


def test_all_hosts_are_reserved_names() -> None:
    hosts = {folder.name for folder in LIBRARY.iterdir()}
    assert 8 <= len(hosts) <= 12
    assert all(host.endswith(".example") for host in hosts)


@each_page
def test_a_page_has_title_language_description_and_date(page: Path) -> None:
    tree = soup(page)
    assert tree.html is not None and tree.html["lang"] == "en"
    assert tree.title is not None and " · " in tree.title.get_text()
    assert tree.select_one("meta[name=description]")["content"]
    published = tree.select_one('meta[property="article:published_time"]')["content"]
    assert date.fromisoformat(published).year == 2025
    assert len(tree.find_all("h1")) == 1


@each_page
def test_a_page_is_small_and_loads_nothing(page: Path) -> None:
    assert page.stat().st_size <= 12_000
    assert soup(page).select(EXTERNAL_RESOURCES) == []
    assert "url(" not in page.read_text(encoding="utf-8")


@each_page
def test_links_lead_to_pages_of_the_library(page: Path) -> None:
    address = f"https://{name(page)}"
    tree = soup(page)
    assert tree.select_one("link[rel=canonical]")["href"] == address
    for link in tree.select("a[href]"):
        href = link["href"]
        if href.startswith("#"):
            assert tree.find(id=href[1:]) is not None, href
            continue
        target = urlsplit(urljoin(address, href))
        assert target.scheme == "https"
        assert (LIBRARY / target.netloc / target.path.lstrip("/")).is_file(), href


@pytest.mark.parametrize("path", LEVEL_1)
def test_level_1_has_the_questions_words_and_names_only_level_2(path: str) -> None:
    text = visible_text(path)
    for word in ("quantum comput", "cryptocurrenc", "security", "impact"):
        assert word in text.lower()
    assert NAMES_OF_LEVEL_2.search(text)
    assert not NAMES_OF_LEVEL_3.search(text)


@pytest.mark.parametrize("path", LEVEL_2)
def test_level_2_has_none_of_the_questions_words_and_names_level_3(path: str) -> None:
    assert not QUESTION_WORDS.search((LIBRARY / path).read_text(encoding="utf-8"))
    assert NAMES_OF_LEVEL_2.search(visible_text(path))
    assert NAMES_OF_LEVEL_3.search(visible_text(path))


@pytest.mark.parametrize("path", LEVEL_3)
def test_level_3_has_no_words_of_the_question_or_of_level_2(path: str) -> None:
    assert not QUESTION_WORDS.search((LIBRARY / path).read_text(encoding="utf-8"))
    assert not NAMES_OF_LEVEL_2.search(visible_text(path))
    assert NAMES_OF_LEVEL_3.search(visible_text(path))


def test_every_other_page_is_outside_the_levels() -> None:
    levelled = {*LEVEL_1, *LEVEL_2, *LEVEL_3}
    assert levelled <= {name(page) for page in PAGES}
    for page in PAGES:
        if name(page) not in levelled:
            text = soup(page).get_text(" ")
            assert not re.search(r"quantum|cryptocurrenc", text, re.IGNORECASE), name(page)


def test_four_recipes_answer_with_steps_in_whole_sentences() -> None:
    recipes = [page for page in PAGES if page.stem.startswith("how-to-make-")]
    assert len(recipes) >= 4
    for page in recipes:
        tree = soup(page)
        assert "scrambled eggs" in tree.h1.get_text()
        (steps,) = (steps for steps in tree.find_all("ol") if len(steps.find_all("li")) >= 5)
        for step in steps.find_all("li"):
            assert 8 <= len(step.get_text().split()) <= 30
            assert step.get_text().endswith(".")


def test_the_documentation_states_the_stop_rule_in_sentences() -> None:
    text = visible_text("docs.plumbline.example/concepts/when-plumbline-stops.html")
    assert text.count("Plumbline stops when") >= 5
    for figure in ("7.0", "600 seconds", "60 model calls", "400,000 tokens", "five rounds"):
        assert figure in text


def test_two_analysts_differ_on_the_share_of_exposed_coins() -> None:
    count = re.compile(r"own count in 2024 found that (\d+) percent")
    shares = {m.group(1) for path in LEVEL_1 if (m := count.search(visible_text(path)))}
    assert shares == {"24", "37"}


def test_the_questions_are_in_their_order() -> None:
    questions = json.loads((SAMPLES / "questions.json").read_text(encoding="utf-8"))
    assert [entry["question"] for entry in questions] == [
        "How does Plumbline decide when to stop?",
        "How to make scrambled eggs?",
        "Impact of quantum computing on cryptocurrency security",
    ]
    assert all(entry["hint"] for entry in questions)
