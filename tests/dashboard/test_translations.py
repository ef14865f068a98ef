"""The interface in several languages: nothing bypasses translation, catalogues are complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import polib
import pytest
from django import forms
from django.conf import settings
from django.test import Client
from django.utils import translation

from dashboard import words
from dashboard.forms.knobs import form_groups, knob_fields
from dashboard.stored_texts import TEMPLATES, worded
from research.engine.config import ResearchConfig
from research.engine.records import AspectState, StopReason
from research.engine.report.messages import stop_message
from scripts.translations import catalogues, compiled
from tests.engine.report.test_messages import known

ROOT = Path(settings.BASE_DIR)
PAGES = sorted((ROOT / "templates").rglob("*.html"))
TOKEN = re.compile(
    r"(\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<!--.*?-->|<(?:[^<>{]|\{%.*?%\}|\{\{.*?\}\})*>)", re.DOTALL
)
ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|alt)="([^"]*)"')
ARGUMENT = re.compile(r'\b(?:label|before|after|what)="([^"]*)"')
DJANGO = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
BLOCK = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}", re.DOTALL)
VERBATIM = ("style", "script", "code", "kbd", "meta")
NAMES = {
    "Plumbline",  # the product's name
    "example.org",  # an address that stays as it is
    "/srv/papers",  # a path
    "htmx config",
}
"""What needs no translation."""


def letters(text: str) -> bool:
    for name in NAMES:
        text = text.replace(name, "")
    return any(char.isalpha() for char in text)


def untranslated(source: str) -> Iterator[str]:
    """Yield texts of a template that no tag of Django's i18n translates."""
    inside: str | None = None
    source = re.sub(r"<meta name=\"htmx-config\"[^>]*>", "", source)
    for number, token in enumerate(TOKEN.split(source)):
        if number % 2 == 0:
            if not inside and letters(token):
                yield token.strip()
        elif found := re.match(r"\{% (blocktranslate|comment)\b", token):
            inside = found[1]
        elif token.startswith("{% end") and inside and inside in token:
            inside = None
        elif token.startswith("{% include"):
            yield from (text for text in ARGUMENT.findall(token) if letters(text))
        elif inside in (None, *VERBATIM) and token.startswith("<"):
            plain = DJANGO.sub("", BLOCK.sub("", token))
            yield from (text for text in ATTRIBUTE.findall(plain) if letters(text))
            name = re.match(r"</?(\w+)", token)
            if name and name[1] in VERBATIM:
                inside = None if token.startswith("</") else name[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_text_of_a_template_bypasses_translation(page: Path) -> None:
    assert list(untranslated(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source, found",
    [
        ("<p>Hello</p>", ["Hello"]),
        ('<p title="Hello"></p>', ["Hello"]),
        ('<a aria-label="{% if x %}Go{% endif %}"></a>', ["Go"]),
        ('{% include "a.html" with before="Newer" %}', ["Newer"]),
        ("<p>{{ count }} files</p>", ["files"]),
        (
            '<p title="{% translate "Hello" %}">{% blocktranslate %}Hi{% endblocktranslate %}</p>',
            [],
        ),
        ("<code>manage.py</code> Plumbline", []),
    ],
)
def test_the_check_finds_what_it_should(source: str, found: list[str]) -> None:
    assert list(untranslated(source)) == found


def test_scripts_have_no_texts_of_their_own() -> None:
    """Scripts show what the page hands them in data attributes."""
    sentence = re.compile(r'"([A-Z][a-z]+ [^"\n]*)"|`([A-Z][a-z]+ [^`\n]*)`')
    for script in (ROOT / "static").glob("*.js"):
        code = re.sub(r"//.*|/\*.*?\*/", "", script.read_text(encoding="utf-8"))
        assert sentence.findall(code) == [], script.name


# --- catalogues -------------------------------------------------------------------------------


def placeholders(text: str) -> set[str]:
    named = set(re.findall(r"%\(\w+\)s", text))
    return named | {f"{{{name}}}" for _, name, *_ in Formatter().parse(text) if name}


@pytest.mark.parametrize("path", list(catalogues()), ids=lambda path: path.parts[-3])
class TestCatalogue:
    def test_it_is_complete(self, path: Path) -> None:
        catalogue = polib.pofile(str(path))
        assert [entry.msgid for entry in catalogue.untranslated_entries()] == []
        assert [entry.msgid for entry in catalogue.fuzzy_entries()] == []
        assert [entry.msgid for entry in catalogue.obsolete_entries()] == []

    def test_its_placeholders_match(self, path: Path) -> None:
        for entry in polib.pofile(str(path)):
            whole = placeholders(entry.msgid) | placeholders(entry.msgid_plural)
            for number, form in enumerate(entry.msgstr_plural.values() or [entry.msgstr]):
                is_one = bool(entry.msgid_plural) and number == 0  # may do without the number
                wanted = placeholders(form) | whole if is_one else placeholders(form)
                assert wanted == whole, entry.msgid
                assert ("%%" in form) == ("%%" in entry.msgid), entry.msgid

    def test_it_adds_no_markup(self, path: Path) -> None:
        """Texts are put into attributes and pages as they are."""
        for entry in polib.pofile(str(path)):
            for form in (entry.msgstr, *entry.msgstr_plural.values()):
                assert '"' not in form, entry.msgid
                tags = re.findall(r"<[^>]*>", form)
                assert sorted(tags) == sorted(re.findall(r"<[^>]*>", entry.msgid)), entry.msgid

    def test_its_compiled_form_is_current(self, path: Path) -> None:
        """`python -m scripts.translations compile` writes it."""
        assert path.with_suffix(".mo").read_bytes() == compiled(path)

    def test_it_has_every_text_of_the_code(self, path: Path) -> None:
        """`python -m scripts.translations` collects new ones."""
        known = {entry.msgid for entry in polib.pofile(str(path))}
        assert texts_of_code() - known == set()
        assert texts_of_templates() - known == set()


CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext"}
CONTEXT_CALLS = {"pgettext", "pgettext_lazy"}


def texts_of_code() -> set[str]:
    """Return the message ids of all modules that translate texts."""
    found = set()
    for path in (*(ROOT / "dashboard").rglob("*.py"), *(ROOT / "research/admin").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "django.utils.translation" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                place = 0 if node.func.id in CALLS else 1 if node.func.id in CONTEXT_CALLS else None
                if place is not None and isinstance(node.args[place], ast.Constant):
                    found.add(node.args[place].value)
    return found


def texts_of_templates() -> set[str]:
    tag = re.compile(r"""\{% translate (?:"([^"]+)"|'([^']+)')""")
    argument = re.compile(r'_\("([^"]+)"\)')
    found = set()
    for page in PAGES:
        source = page.read_text(encoding="utf-8")
        found |= {first or second for first, second in tag.findall(source)}
        found |= set(argument.findall(source))
    return found


# --- sentences that are stored in English -----------------------------------------------------


def every_stop_sentence() -> list[str]:
    yes, no, one = AspectState.ANSWERED, AspectState.OPEN, AspectState.ONE_SOURCE
    split = ([yes], [no], [yes, no], [yes, one, no], [AspectState.DISPUTED], [yes, yes, yes])
    return [
        stop_message(reason, known(*states), ResearchConfig(), [5.0, 5.1])
        for reason in StopReason
        for states in split
    ]


def test_sentences_of_the_engine_are_worded_when_they_are_displayed() -> None:
    sentences = every_stop_sentence()
    assert len(sentences) > 15
    with translation.override("de"):
        assert [text for text in sentences if worded(text) == text] == []
    with translation.override("en"):
        assert [worded(text) for text in sentences] == sentences


@pytest.mark.parametrize(
    "stored, shown",
    [
        (
            "Stopped after 3 rounds, the most for a question like this: 1 of 2 answered. "
            "1 question stays open.",
            "Nach 3 Runden beendet, mehr sind für eine solche Frage nicht vorgesehen: 1 von 2 "
            "beantwortet. 1 Frage bleibt offen.",
        ),
        (
            "Stopped after 3 rounds, the most for a question like this. Both sub-questions "
            "answered.",
            "Nach 3 Runden beendet, mehr sind für eine solche Frage nicht vorgesehen. Beide "
            "Teilfragen beantwortet.",
        ),
        (
            "Stopped: all 8 sub-questions answered, 2 of them disputed, 6 from two or more sites.",
            "Beendet: alle 8 Teilfragen beantwortet, davon 2 umstritten, 6 aus zwei oder mehr "
            "Websites.",
        ),
        (
            "Looked for other sources on 3 claims: 1 confirmed, 2 not repeated by other sources. "
            "Stopped: both sub-questions answered.",
            "Weitere Quellen gesucht zu 3 Aussagen: 1 bestätigt, 2 von keiner anderen Quelle "
            "wiederholt. Beendet: beide Teilfragen beantwortet.",
        ),
        ("Searching: 3 rounds of boxing and 2 more", "Suche: 3 rounds of boxing and 2 more"),
        (
            "Going on: 1 of 4 answered. Missing: “a and b”, “St. Ives” and 1 more. "
            "Round 2 looks for “a and b” and “St. Ives”.",
            "Es geht weiter: 1 von 4 beantwortet. Es fehlt: „a and b“, „St. Ives“ und 1 weitere. "
            "Runde 2 sucht nach „a and b“ und „St. Ives“.",
        ),
        (
            "Not added: it is nearly the same as “1 page”.",
            "Nicht hinzugefügt: Es ist fast dasselbe wie „1 page“.",
        ),
        (
            "8 model calls and at most 18,400 tokens; price unknown",
            "8 Modellaufrufe und höchstens 18.400 Token; Preis unbekannt",
        ),
        (
            "8 model calls and at most 18,400 tokens; at most $0.40",
            "8 Modellaufrufe und höchstens 18.400 Token; höchstens 0,40 $",
        ),
        (
            "share of sub-questions answered: 0.5 of 0.75",
            "Anteil beantworteter Teilfragen: 0,5 von 0,75",
        ),
        ("the server answered 404", "der Server antwortete mit 404"),
        ("the server answered nonsense", "the server answered nonsense"),
        ("A sentence that nobody knows.", "A sentence that nobody knows."),
        ("Sample report", "Beispielbericht"),
        ("", ""),
    ],
)
def test_values_in_a_sentence_stay_as_they_are(stored: str, shown: str) -> None:
    with translation.override("de"):
        assert worded(stored) == shown


def test_templates_still_have_the_words_of_the_code() -> None:
    """A sentence that was reworded in the engine would silently stay English."""
    code = "\n".join(
        node.value
        for path in (ROOT / "research").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    code += (ROOT / "research/samples/questions.json").read_text(encoding="utf-8")
    joined = re.compile(
        r"stopped as|others? gives?|questions? stays?|answers? rests?|results? for|enter \w+"
        r"|independent \w+|points? missing"
    )
    profile = "the standard profile"
    for template in TEMPLATES:
        for piece in re.findall(r"[A-Za-z][a-z' ]{8,}[a-z]", re.sub(r"%\(\w+\)s", "|", template)):
            begun = " ".join(piece.split()[:2]).lower()
            is_joined = joined.fullmatch(begun) or piece.startswith(profile)
            assert begun in code.lower() or is_joined, template


# --- the reader's language --------------------------------------------------------------------


@pytest.fixture
def visitor() -> Iterator[Client]:
    """Nobody is signed in. The thread is left in English, as later tests expect it."""
    yield Client()
    translation.deactivate()


@pytest.mark.django_db
class TestLanguageOfAPage:
    def test_it_is_the_browsers(self, visitor: Client) -> None:
        html = visitor.get("/sign-in/", headers={"Accept-Language": "de-AT,de;q=0.8"})
        assert '<html lang="de" dir="ltr"' in html.text and "<h1>Anmelden</h1>" in html.text
        assert "Accept-Language" in html.headers["Vary"]

    def test_it_can_be_changed(self, visitor: Client) -> None:
        answer = visitor.post("/language/", {"language": "de", "next": "/sign-in/"})
        assert answer.url == "/sign-in/"  # type: ignore[attr-defined]
        assert visitor.cookies["plumbline_language"].value == "de"
        html = visitor.get("/sign-in/", headers={"Accept-Language": "en"}).text
        assert "<h1>Anmelden</h1>" in html
        assert (
            '<button class="quiet small" name="language" value="de" lang="de" aria-current' in html
        )

    def test_an_unknown_language_is_english(self, visitor: Client) -> None:
        html = visitor.get("/sign-in/", headers={"Accept-Language": "tlh"}).text
        assert '<html lang="en" dir="ltr"' in html and "<h1>Sign in</h1>" in html

    def test_programs_are_answered_in_english(self, visitor: Client) -> None:
        german = visitor.get("/api/v1/runs", headers={"Accept-Language": "de"})
        assert german.json() == visitor.get("/api/v1/runs").json()
        assert german.headers["Content-Language"] == "en"

    def test_one_page_does_not_leave_its_language_to_the_next(self, visitor: Client) -> None:
        visitor.get("/sign-in/", headers={"Accept-Language": "de"})
        assert "<h1>Sign in</h1>" in visitor.get("/sign-in/").text


def test_numbers_and_dates_have_one_format_in_each_language() -> None:
    from datetime import date

    shown = {}
    for language in ("en", "de"):
        with translation.override(language):
            shown[language] = (
                words.format_day(date(2025, 3, 18)),
                words.count_noun(1234, "token"),
                words.format_usd(0.5, 2),
                words.format_score(7.26),
            )
    assert shown["en"] == ("18 March 2025", "1,234 tokens", "$0.50", "7.3")
    assert shown["de"] == ("18. März 2025", "1.234 Token", "$0,50", "7,3")


def test_a_language_is_added_by_adding_a_file(tmp_path: Path) -> None:
    from config.environment import find_languages

    folder = tmp_path / "pt_BR" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.mo").write_bytes(b"")
    assert find_languages([tmp_path]) == [("en", "English"), ("pt-br", "Português Brasileiro")]


def test_setup_says_in_german_what_a_qualification_takes() -> None:
    with translation.override("de"):
        told = worded("8 calls of the model, at most 18,400 tokens, at an unknown price")
        assert told == "8 Aufrufe des Modells, höchstens 18.400 Token, Preis unbekannt"
        told = worded("8 calls of the model, at most 18,400 tokens, at most $0.40")
        assert told == "8 Aufrufe des Modells, höchstens 18.400 Token, höchstens 0,40 $"


def test_defaults_have_the_decimals_of_the_language() -> None:
    defaults = ResearchConfig()
    form = type("Form", (forms.Form,), knob_fields(defaults))()
    with translation.override("de"):
        lines = [line for group in form_groups(form, defaults) for line in group.lines]
        shown = {line.field.name: str(line.usual) for line in lines}
    assert shown["weight_completeness"] == f"{defaults.weight_completeness:g}".replace(".", ",")
    assert "." not in shown["min_improvement_threshold"]
