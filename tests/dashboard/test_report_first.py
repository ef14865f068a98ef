"""A finished run opens with its report; how it was researched is a second tab."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from dashboard.contexts.report import summarize_sources
from dashboard.prices import priced_usage
from dashboard.titles import asking_part, short_title, shorten
from dashboard.words import format_day
from research.models import Aspect, EvidenceSource, Gap, Round, Run, Source, Thread
from tests.dashboard.conftest import add_evidence, add_report, make_later, make_run

REPORT = "# How old?\n\n**Short answer.** About 600 years. [1]\n\n## Growth\n\nIt is slow. [1]\n"


@pytest.fixture
def run(admin: User) -> Run:
    """Finished, with a report on one sub-question."""
    run = make_run(admin, "completed", plan={"aspects": []}, analyst="some-model")
    add_evidence(run, 1)
    add_report(run, REPORT)
    return run


def shown(client: Client, address: str) -> BeautifulSoup:
    answer = client.get(address)
    assert answer.status_code == 200
    return BeautifulSoup(answer.content, "html.parser")


def text(soup: Tag, selector: str) -> str:
    found = soup.select_one(selector)
    assert isinstance(found, Tag), selector
    return text_of(found)


def text_of(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def test_the_question_is_the_heading_and_the_answer_comes_before_the_report(
    client: Client, run: Run
) -> None:
    soup = shown(client, f"/runs/{run.public_id}/")
    assert [heading.get_text() for heading in soup.select("h1")] == ["How old do oaks get?"]
    order = [each.name or "" for each in soup.select(".column > :is(section, form, .outcome)")]
    assert order[:3] == ["section", "div", "form"]
    assert "About 600 years." in text(soup, ".answer")
    assert "About 600 years." not in text(soup, ".report")
    assert text(soup, ".contents a") == "Growth"


def test_what_code_judged_in_the_place_of_a_failing_model_is_only_likely(
    client: Client, run: Run
) -> None:
    address = f"/runs/{run.public_id}/"
    assert "Likely" not in text(shown(client, address), ".verdict-top .state")
    told = {"sources": ["a.example"], "agree": False, "probability": 0.9}
    Aspect.objects.update(standing=told, evidence_labels=["E1"])
    soup = shown(client, address)
    assert text(soup, ".verdict-top .state") == "Likely answered"
    assert "no model has assessed" in text(soup, ".answer")
    assert text(shown(client, "/runs/"), ".run-list .state") == "Likely answered"


def test_each_tab_has_an_address(client: Client, run: Run) -> None:
    addresses = {
        "report": f"/runs/{run.public_id}/",
        "research": f"/runs/{run.public_id}/research/",
    }
    for tab, address in addresses.items():
        soup = shown(client, address)
        assert [link["href"] for link in soup.select(".run-tabs a")] == list(addresses.values())
        current = soup.select(".run-tabs [aria-current]")
        assert [link["href"] for link in current] == [address]
        assert soup.select(f".run[data-tab={tab}]")


@pytest.mark.parametrize(
    ("states", "badge"),
    [
        (("answered", "answered"), "Answered"),
        (("answered", "not_found"), "Partly answered"),
        (("disputed", "answered"), "Answered, sources disagree"),
        (("not_found", "open"), "Not answered"),
    ],
)
def test_page_and_list_say_the_same_of_how_far_a_question_is_answered(
    client: Client, run: Run, states: tuple[str, str], badge: str
) -> None:
    Aspect.objects.update(state=states[0], evidence_labels=["E1"])
    Aspect.objects.create(
        run=run, label="A9", position=9, text="How tall?", round=1, state=states[1]
    )
    assert text(shown(client, f"/runs/{run.public_id}/"), ".verdict-top .state") == badge
    line = shown(client, "/runs/")
    assert text(line, ".run-list .state") == badge
    counted = sum(state in {"answered", "disputed"} for state in states)
    assert f"{counted} of 2 sub-questions answered" in text(line, ".run-facts")


def test_without_a_model_sub_questions_have_passages_and_no_answers(
    client: Client, run: Run
) -> None:
    Aspect.objects.update(state="answered", evidence_labels=["E1"])
    Aspect.objects.create(
        run=run, label="A9", position=9, text="How tall?", round=1, state="not_found"
    )
    Run.objects.update(analyst="extractive")
    told = "passages for 1 of 2 sub-questions"
    assert told in text(shown(client, f"/runs/{run.public_id}/"), ".verdict-line")
    assert told in text(shown(client, "/runs/"), ".run-facts")


def test_what_is_uncertain_is_one_line_below_the_answer(client: Client, run: Run) -> None:
    Aspect.objects.update(state="one_source")
    address = f"/runs/{run.public_id}/"
    assert text(shown(client, address), ".uncertain") == "The answer rests on one site."
    Aspect.objects.create(run=run, label="A9", position=9, text="How tall?", round=1, state="open")
    told = "No confirmed answer to “How tall?”. 1 of 2 answers rests on one site."
    assert text(shown(client, address), ".uncertain") == told
    Aspect.objects.update(state="answered")
    assert not shown(client, address).select(".uncertain")
    Run.objects.update(analyst="extractive")
    assert "no model has assessed" in text(shown(client, address), ".uncertain")


def test_buttons_belong_to_the_live_part_and_send_the_form_of_the_viewer(
    client: Client, admin: User
) -> None:
    run = make_run(admin)
    soup = shown(client, f"/runs/{run.public_id}/")
    buttons = soup.select(f"#run-{run.public_id}-controls button")
    assert [button.get_text(strip=True) for button in buttons] == ["Pause", "Stop and report"]
    for button in buttons:
        form = soup.find("form", id=button["form"])
        assert isinstance(form, Tag) and form.select("[name=csrfmiddlewaretoken]")


def test_a_thread_is_shown_as_a_conversation(client: Client, run: Run) -> None:
    run.reports.update(short_answer="About 600 years. [1]")
    later = make_later(run, origin=None, kind="follow_up", question="And yews?")
    soup = shown(client, f"/runs/{later.public_id}/")
    assert "About 600 years." in text(soup, ".turns")
    assert text(soup, ".turn-question") == "How old do oaks get?"
    assert [heading.get_text() for heading in soup.select("h1")] == ["And yews?"]
    assert text(shown(client, f"/runs/{run.public_id}/"), ".turn-question") == "And yews?"


def test_a_follow_up_shows_its_answer_and_its_sections(client: Client, run: Run) -> None:
    later = make_later(run, origin=None, kind="follow_up", question="And yews?")
    add_evidence(later, 1)
    report = run.reports.get()
    report.pk, report.run = None, later
    report.save()
    soup = shown(client, f"/runs/{later.public_id}/")
    assert "About 600 years." in text(soup, ".answer")
    detail = next(each for each in soup.select(".report p") if "It is slow." in each.get_text())
    assert not detail.find_parent("details"), "it may correct the earlier report"


def test_sub_questions_are_listed_without_what_all_begin_with(client: Client, run: Run) -> None:
    Aspect.objects.update(text="Oaks in parks: how old?", state="not_found")
    for label, asked in (("A8", "how tall?"), ("A9", "where?")):
        Aspect.objects.create(
            run=run, label=label, position=int(label[1]), text=f"Oaks in parks: {asked}", round=1,
            state="answered",
        )  # fmt: skip
    run.gaps.update(text="More on: Oaks in parks: how old?", aspect_label="A1")
    soup = shown(client, f"/runs/{run.public_id}/research/")
    asked = [each.get_text(strip=True) for each in soup.select(".aspect-text")]
    assert asked == ["How old?", "How tall?", "Where?"]
    assert not soup.select(".gaps li"), "the state of the sub-question says that it is open"
    assert "No confirmed answer to “How old?”." in text(soup, ".uncertain")
    [suggested] = soup.select(".suggested button")
    assert suggested["value"] == "Oaks in parks: how old?"
    assert suggested.get_text(strip=True) == "How old?"


def test_a_long_question_is_a_title_that_opens(client: Client, run: Run) -> None:
    long = f"How old do oaks get in parks: {'in this one and ' * 10}in that one?"
    Run.objects.update(question=long)
    soup = shown(client, f"/runs/{run.public_id}/")
    title = text(soup, "h1")
    assert len(title) <= 121 and title.startswith("How old do oaks") and title[-2:] != " …"
    assert text(soup, "h1 + .as-asked") == long


TOLD = (
    "My sister lost most of her sight last spring, and she wants to keep her garden at any cost. "
)
ASKED = "Which aids are there for blind gardeners, and who pays for them?"
BRIEF = "Aids for blind gardeners in Norway, their prices, and who pays for them"


def test_a_question_that_begins_with_a_story_is_named_by_what_it_asks(
    client: Client, run: Run
) -> None:
    Run.objects.update(question=TOLD + ASKED)
    Thread.objects.update(title=TOLD)
    thread = f"/threads/{run.thread.public_id}/"
    pages = {f"/runs/{run.public_id}/": "h1", "/": ".run-question", "/runs/": ".run-question"}
    pages |= {thread: "h2", f"/runs/{run.public_id}/sources/": "p[title]", "/review/": "a[title]"}
    for name in (ASKED, BRIEF):
        for path, place in pages.items():
            assert text(shown(client, path), f"main {place}") == name, path
        tab = text(shown(client, f"/runs/{run.public_id}/"), "title")
        assert name[:30] in tab and "sister" not in tab
        Run.objects.update(plan={"brief": f"{BRIEF}.", "aspects": []})
    found = shown(client, "/runs/?text=sister")
    assert text(found, "main .run-question") == BRIEF
    assert "sister" in text(found, "main li mark")


def test_only_a_story_before_a_question_is_left_out_of_its_title() -> None:
    assert asking_part(TOLD + ASKED) == ASKED
    for question in (
        f"{ASKED} {TOLD}Do they get help?",
        f"Survey the heat stores: why they were built, and at what cost. {TOLD}",
        f"How old do oaks get in these parks: {'in this one and ' * 4}in that one?",
    ):
        assert asking_part(question) == question
    assert (
        asking_part("我姐姐失明了。有哪些为盲人园丁提供的辅助工具？")
        == "有哪些为盲人园丁提供的辅助工具？"
    )


def test_headings_of_the_contents_are_cut_after_a_word() -> None:
    text = "Where was the engineer of the Harrow Point lighthouse trained?"
    assert shorten(text, 64) == text
    assert shorten(f"{text[:-1]}, and by whom?", 64) == f"{text[:-1]}…"
    assert shorten("木" * 70, 64) == "木" * 64 + "…"


def test_a_long_question_has_a_title_that_ends_where_its_details_begin() -> None:
    subject = "Compare the six databases of the Larch family"
    assert short_title(f"{subject} (Larch, Tamarack) by licence", 60) == subject
    assert short_title(f"{subject}: by licence and by storage engine", 60) == subject
    asked = "How old do oaks get in England? And how do they die?"
    assert short_title(asked, 40) == "How old do oaks get in England?"
    assert short_title("In v1.5, which settings of the server were renamed", 30) == (
        "In v1.5, which settings…"
    )
    assert short_title("Since eggs need wet ground, what is measured?", 30) == (
        "Since eggs need wet ground…"
    )


def test_a_finished_report_can_be_saved_from_its_top(client: Client, run: Run) -> None:
    soup = shown(client, f"/runs/{run.public_id}/")
    names = [link.contents[0].strip() for link in soup.select(".exports a:not(.without-quotes)")]
    assert names == ["Word", "PDF", "Markdown", "HTML", "CSV", "JSON", "RIS", "BibTeX"]
    assert all(text(link, "span") for link in soup.select(".exports a")), "each says what it is for"


def test_formats_are_grouped_by_what_they_are_for(client: Client, run: Run) -> None:
    soup = shown(client, f"/runs/{run.public_id}/")
    groups = [each.get_text() for each in soup.select(".exports .small-title")]
    assert groups == ["To read and edit", "Data", "References"]


def test_an_earlier_turn_says_its_answer_in_one_line(client: Client, run: Run) -> None:
    run.reports.update(short_answer="About 600 years. [1]")
    later = make_later(run, origin=None, kind="follow_up", question="And yews?")
    soup = shown(client, f"/runs/{later.public_id}/")
    assert "About 600 years." in text(soup, ".turns summary .turn-gist")


def test_the_first_view_of_a_run_has_no_empty_columns(client: Client, admin: User) -> None:
    soup = shown(client, f"/runs/{make_run(admin, 'queued').public_id}/")
    assert len(soup.select(".columns .skeleton")) == 2


def test_passages_without_what_was_asked_for_are_only_related(client: Client, run: Run) -> None:
    """Badge, tab and list agree."""
    Run.objects.update(analyst="extractive")
    told = {"sources": ["a.test"], "agree": False, "probability": 0.2, "lacks_kind": True}
    Aspect.objects.update(state="open", evidence_labels=["E1"], standing=told)
    soup = shown(client, f"/runs/{run.public_id}/")
    assert text(soup, ".verdict-top .state") == "Related passages found"
    assert text(soup, "title").startswith("– ")
    assert text(shown(client, "/runs/"), ".run-list .state") == "Related passages found"


def test_an_answer_from_one_site_says_so(client: Client, run: Run) -> None:
    Aspect.objects.update(state="answered")
    run.gaps.all().delete()
    note = text(shown(client, f"/runs/{run.public_id}/"), ".state-note")
    assert note == "one site only"
    run.reports.update(
        citations=[{"marker": n, "url": f"https://{n}.test/", "evidence_ids": []} for n in (1, 2)]
    )
    assert not shown(client, f"/runs/{run.public_id}/").select(".state-note")


def test_no_statement_of_one_collection_is_marked_as_alone(client: Client, run: Run) -> None:
    for number in range(2, 6):
        add_evidence(run, number)
    for row in run.evidence.all():
        url = f"file:///manual/{row.label.removeprefix('E')}.html"
        row.quotes.update(url=url, independence_key=url)
    Aspect.objects.update(state="answered")
    run.gaps.all().delete()
    run.reports.update(
        markdown="**Short answer.** It is old. [1]\n\n## Growth\n\nIt is slow. [2]\n",
        citations=[
            {"marker": n, "url": f"file:///manual/{n}.html", "evidence_ids": [f"E{n}"]}
            for n in (1, 2)
        ],
    )
    page = shown(client, f"/runs/{run.public_id}/")
    assert not page.select(".state-note"), "whoever chose documents knows it"
    assert len(page.select(".cite")) == 2 and not page.select(".cite.single")
    assert "quoted from" not in str(page.select(".cite a")[0]["title"])
    other = "https://a.test/"
    run.evidence.get(label="E5").quotes.update(url=other, independence_key=other)
    assert len(shown(client, f"/runs/{run.public_id}/").select(".cite.single")) == 2


def test_header_and_list_say_what_is_disputed_and_from_one_site(client: Client, run: Run) -> None:
    Aspect.objects.update(state="answered", standing={"sources": ["a.test", "b.test"], "agree": 1})
    states = ("disputed", "answered")
    for ordinal, state in enumerate(states, start=7):
        Aspect.objects.create(
            run=run, position=ordinal, round=1, label=f"A{ordinal}", text=f"Part {ordinal}?",
            state=state, standing={"sources": ["a.test"], "agree": True},
        )  # fmt: skip
    told = "1 point open · 1 point disputed · 1 from one site"
    page = shown(client, f"/runs/{run.public_id}/")
    assert text(page, ".state-note") == told
    assert [link["href"] for link in page.select(".state-note a")] == [
        f"/runs/{run.public_id}/research/"
    ], "no quotation of the report tells of the dispute"
    assert told in text(shown(client, "/runs/"), ".run-facts")
    later = make_later(run, origin=None, kind="follow_up", question="And yews?")
    for address in (f"/threads/{run.thread.public_id}/", f"/runs/{later.public_id}/"):
        assert text(shown(client, address), ".state-note") == told
    research = shown(client, f"/runs/{run.public_id}/research/")
    assert "tone-fair" in str(
        next(each for each in research.select(".aspect-state") if "disagree" in each.get_text())
    )


@pytest.mark.parametrize(("listed", "note"), [(3, "3 points open"), (0, "")])
def test_head_and_list_count_as_open_what_the_report_lists(
    client: Client, run: Run, listed: int, note: str
) -> None:
    """The open gap of the run is none of it."""
    Aspect.objects.update(state="answered", standing={"sources": ["a.test", "b.test"], "agree": 1})
    version = run.reports.get()
    cited = [{"marker": n, "url": f"https://{n}.test/", "evidence_ids": []} for n in (1, 2)]
    run.reports.update(
        markdown=f"{version.markdown}\n\n## Still open\n\n- The age\n",
        checks={"open_points": listed},
        citations=cited,
    )
    address = f"/runs/{run.public_id}/"
    page = shown(client, address)
    told = page.select(".state-note")
    assert [text_of(each) for each in told] == ([note] if note else [])
    links = [link["href"] for link in page.select(".state-note a")]
    assert links == ([f"{address}#open"] if note else [])
    assert text(page, "h2#open") == "Still open"
    facts = text(shown(client, "/runs/"), ".run-facts")
    assert ("open" in facts) is bool(note) and note in facts
    run.reports.update(checks={"open_points": None})
    assert "1 point open" in text(shown(client, "/runs/"), ".run-facts"), "the gap, without a list"


def test_disputes_of_sentences_are_counted_and_led_to(client: Client, run: Run) -> None:
    add_evidence(run, 2)
    run.aspects.update(state="answered", evidence_labels=["E1", "E2"])
    short = "**Short answer.** Old. [1] (⚠ Sources disagree)\n\n"
    said = "## Age\n\nOld. [1]\n\nOne says old, one young. [1] (⚠ Sources disagree)\n\nSo. [1]\n"
    run.reports.update(markdown=f"{short}{said}", checks={"disputes": 3})
    page = shown(client, f"/runs/{run.public_id}/")
    [link] = [each for each in page.select(".state-note a") if "disputed" in each.get_text()]
    assert link.get_text() == "3 points disputed" and link["href"].endswith("#disputes")
    assert text(page, "p#dispute").startswith("One says old")
    listed = page.select(".contents .disputes > #disputes a")
    assert [each["href"] for each in listed] == ["#dispute"]
    assert text_of(listed[0]) == "One says old, one young"
    assert "3 points disputed" in text(shown(client, "/runs/"), ".run-facts")
    run.reports.update(checks={})
    assert "disputed" not in text(shown(client, "/runs/"), ".run-facts")


def test_the_lines_of_the_answer_lead_to_their_sections(client: Client, run: Run) -> None:
    lines = "- **Owners:** Nobody. [1]\n- **Age?** Old. [1]\n- **Taxes:** None. [1]\n"
    sections = "## Owners\n\nThe state. [1]\n\n## Age?\n\nIt is ancient. [1]\n"
    run.reports.update(markdown=f"**Short answer.** It is old. [1]\n\n{lines}\n{sections}")
    page = shown(client, f"/runs/{run.public_id}/")
    links = {link.get_text(): link["href"] for link in page.select(".answer .lead-in > a")}
    assert links == {"Owners:": "#section-1", "Age?": "#section-2"}
    assert [page.select_one(each).get_text() for each in links.values()] == ["Owners", "Age?"]


def test_the_head_leads_to_the_first_section_that_leaves_a_point_open(
    client: Client, run: Run
) -> None:
    version = run.reports.get()
    open_here = "## Owners\n\nNobody. [1]\n\n*Still open: who has it; since when.*\n\n"
    later = "## Taxes\n\nNone. [1]\n\n*Still open: the rate.*\n\n## Still open\n\n- The age\n"
    run.reports.update(markdown=f"{version.markdown}\n\n{open_here}{later}")
    page = shown(client, f"/runs/{run.public_id}/")
    [first, second] = page.select("p.left-open")
    assert text_of(first) == "Still open: who has it; since when."
    assert first["id"] == "open" and "id" not in second.attrs
    [listed] = [each for each in page.select(".report h2") if each.get_text() == "Still open"]
    assert listed["id"] != "open"


def test_a_version_written_anew_shows_the_research_that_it_rests_on(
    client: Client, run: Run
) -> None:
    Run.objects.update(round=1, termination_text="Stopped: enough.", usage={"searches": 8})
    run.rounds.update(pages_read=5)
    later = make_later(run, kind="reshape", termination_text="Written anew.", round=0)
    Round.objects.create(run=later, number=0, stage="overview", closed=True, decision="Taken over.")
    pages = [shown(client, f"/runs/{each.public_id}/research/") for each in (run, later)]
    for shows in (".round", ".gaps li", ".chart", ".quality"):
        first, second = ([text_of(each) for each in page.select(shows)] for page in pages)
        assert first == second and first, shows
    lines = [text_of(each) for each in pages[1].select(".account > div")]
    assert "Ended Enough." in lines
    assert any(line.startswith("Work done 8 searches in 1 round, 5 pages read.") for line in lines)
    [written] = [line for line in lines if line.startswith("Written")]
    assert written.endswith("rewritten from these findings, with no new search.")
    assert "Written" not in " ".join(text_of(each) for each in pages[0].select(".account dt"))
    later.parent = None
    later.save()
    alone = shown(client, f"/runs/{later.public_id}/research/")
    assert "Ended Written anew." in [text_of(each) for each in alone.select(".account > div")]


def test_the_citation_counts_the_sites_of_its_statement(client: Client, run: Run) -> None:
    second = add_evidence(run, 2)
    second.quotes.update(url="https://b.test/", independence_key="b.test")
    first = run.reports.get().citations[0]
    run.reports.update(
        markdown="**Short answer.** It is old. [1][2]",
        citations=[first, {"marker": 2, "url": "https://b.test/", "evidence_ids": [second.label]}],
    )
    page = shown(client, f"/runs/{run.public_id}/")
    assert not page.select(".cite.single")
    for number in (1, 2):
        panel = shown(client, f"/runs/{run.public_id}/citations/{number}/")
        told = "This citation rests on 1 site, the whole statement on 2 sites."
        assert text(panel, ".rests-on") == told
    second.quotes.update(independence_key=EvidenceSource.objects.first().independence_key)
    panel = shown(client, f"/runs/{run.public_id}/citations/1/")
    told = f"{told.removesuffix(chr(46))}, of which 1 copies another."
    assert text(panel, ".rests-on") == told


def test_a_finished_run_says_in_a_few_lines_how_it_was_researched(client: Client, run: Run) -> None:
    Run.objects.update(
        round=2, quality_score=7.8, usage={"searches": 8}, termination_text="Stopped: enough."
    )
    run.rounds.update(pages_read=5)
    lines = shown(client, f"/runs/{run.public_id}/research/").select(".account dd")
    assert [line.get_text() for line in lines] == [
        "8 searches in 2 rounds, 5 pages read. The report cites 1 page from 1 site.",
        "A model rated the findings 7.8 of 10; research can stop at 7.0.",
        "Enough.",
        "2 of 2 statements carry a citation.",
    ]
    assert not shown(client, f"/runs/{run.public_id}/").select(".workings[open]")
    for n in range(7):
        url = f"https://a.test/{n}"
        Source.objects.create(
            run=run, url=url, url_key=url, domain="a.test", status="read", round=1
        )
    told = shown(client, f"/runs/{run.public_id}/research/").select(".account dd")[0].get_text()
    assert told.startswith("8 searches in 2 rounds, 5 pages and 2 more for open points read.")


def test_what_a_local_model_took_costs_nothing(
    client: Client, run: Run, settings: Settings
) -> None:
    part = {"calls": 1, "prompt_tokens": 9, "completion_tokens": 1, "cost_usd": None}
    usage = {"llm_calls": 1, "cost_usd": None, "spent_by": {"model": {"own": part}}}
    Run.objects.update(usage=usage, analyst="own", started_at=timezone.now())
    settings.RESEARCH_MODEL = "own"
    for address, cost in (("http://127.0.0.1:9/v1", 0.0), ("https://api.example/v1", None)):
        settings.OPENAI_BASE_URL = address
        told = priced_usage(Run.objects.get())
        assert told["cost_usd"] == told["spent_by"]["model"]["own"]["cost_usd"] == cost


def test_beside_a_report_no_single_claim_stands_as_the_answer(client: Client, run: Run) -> None:
    address = f"/runs/{run.public_id}/research/"
    run.aspects.update(evidence_labels=["E1"])
    assert text(shown(client, address), ".aspect-claim") == ""
    run.reports.all().delete()
    assert text(shown(client, address), ".aspect-claim") == "Found so far: Oaks grow old (1)."
    Run.objects.update(status="researching")
    assert text(shown(client, address), ".aspect-claim") == "Found so far: Oaks grow old (1)."


def test_a_gap_about_an_answered_sub_question_asks_for_more_detail(
    client: Client, run: Run
) -> None:
    address = f"/runs/{run.public_id}/research/"
    add_evidence(run, 2)
    source = EvidenceSource.objects.get(evidence__label="E2")
    source.url, source.independence_key = "https://yews.test/", "yews.test"
    source.save()
    run.aspects.filter(label="A2").delete()
    run.aspects.update(evidence_labels=["E1", "E2"])
    run.gaps.filter(label="G2").delete()
    assert text(shown(client, address), ".aspect-state") == "Answered, 2 sites"
    assert text(shown(client, address), ".gaps h2") == "Still open"
    run.gaps.update(aspect_label="A1")
    page = shown(client, address)
    assert text(page, ".aspect-state") == "Answered; more detail wanted"
    assert page.select_one(".aspect-state .tone-good") is None, "no mark of an answer"


def test_an_answered_sub_question_names_the_one_part_that_nothing_tells(
    client: Client, run: Run
) -> None:
    address = f"/runs/{run.public_id}/research/"
    run.aspects.filter(label="A2").delete()
    run.gaps.all().delete()
    run.aspects.update(evidence_labels=["E1"], open_points=1)
    run.reports.update(checks={"open_points": 1, "left_open": [["A1", "the age of yews"]]})
    assert text(shown(client, address), ".aspect-state") == "Answered, but for: the age of yews"
    run.aspects.update(open_points=2)
    points = [["A1", "the age of yews"], ["A1", "who planted them"]]
    run.reports.update(checks={"open_points": 2, "left_open": points})
    assert text(shown(client, address), ".aspect-state") == "Answered · 2 points open"
    run.reports.all().delete()
    run.aspects.update(open_points=0)
    gap = Gap.objects.create(run=run, label="G7", position=7, text="how tall yews get",
                             aspect_label="A1", critical=True, opened_round=1)  # fmt: skip
    Run.objects.update(status="researching")
    assert text(shown(client, address), ".aspect-state") == "Answered, but for: how tall yews get"
    gap.critical = False
    gap.save()
    assert text(shown(client, address), ".aspect-state") == "Answered"


def test_closed_gaps_of_a_finished_run_are_counted_below_the_open_ones(
    client: Client, run: Run
) -> None:
    address = f"/runs/{run.public_id}/research/"
    assert not shown(client, address).select(".closed-gaps li")
    add_evidence(run, 2)
    run.gaps.filter(label="G2").update(closed_round=2)
    page = shown(client, address)
    assert [row["class"] for row in page.select(".gaps > ul > li")] == [["open"]]
    [closed] = page.select(".closed-gaps")
    assert not closed.has_attr("open")
    assert text(closed, "summary") == "1 point closed on the way"
    assert text(closed, "li") == "Closed: Gap 2 closed in round 2"
    run.gaps.filter(label="G2").update(aspect_label="A2")
    run.aspects.filter(label="A2").update(open_points=1)
    told = "closed in round 2; the report leaves points of its sub-question open"
    assert text(shown(client, address), ".closed-gaps li") == f"Closed: Gap 2 {told}"
    run.gaps.all().update(closed_round=1)
    assert shown(client, address).select(".gaps > h2[hidden]")
    Run.objects.update(status="researching")
    assert len(shown(client, address).select(".gaps > ul > .closed")) == 2, "ticked where they were"


def test_each_round_says_in_a_line_what_it_did_and_what_came_of_it(
    client: Client, run: Run
) -> None:
    add_evidence(run, 2)
    run.units.filter(round=2).update(queries=["oak age", "old oaks"], topic="how old is it?")
    run.rounds.filter(number=1).update(answered=1, closed=True)
    run.rounds.filter(number=2).update(
        answered=2, closed=True, score=7.5, pages_read=3, new_evidence=4
    )
    run.gaps.filter(label="G1").update(closed_round=2)
    for number in range(2):
        refused = {"claim": "It is young.", "reason": "", "url": "https://a.test/"}
        run.refused_quotes.create(round=2, unit=1, ordinal=number, **refused)
    page = shown(client, f"/runs/{run.public_id}/research/")
    assert not page.select(".workings .round"), "not folded"
    first, second = page.select(".round")
    assert text(second, ".round-told") == (
        "2 queries 3 pages read 4 claims kept 2 refused Searched for: How old is it "
        "Closed: Gap 1 Going on."
    )
    run.units.filter(round=2).update(topic="Gap 1")
    run.gaps.filter(label="G2").update(closed_round=2)
    told = text(
        shown(client, f"/runs/{run.public_id}/research/").select(".round")[1], ".round-told"
    )
    assert "Searched for: Gap 1 Closed: 1 of these; Gap 2" in told
    figures = "score 5.5 → 7.5 1 → 2 of 2 answered 1 point missing"
    assert text(second, ".round-figures") == figures
    assert text(first, ".round-figures") == "score 5.5 1 of 2 answered 2 points missing"
    run.gaps.filter(label="G1").update(critical=True)
    first, second = shown(client, f"/runs/{run.public_id}/research/").select(".round")
    assert text(first, ".round-figures").endswith("2 points missing (1 of them essential)")
    Run.objects.update(termination_text="Going on.")
    first, second = shown(client, f"/runs/{run.public_id}/research/").select(".round-told")
    assert "Going on." not in text_of(first) and "Going on." in text_of(second)


def test_the_score_is_told_with_the_marks_that_it_is_made_of(client: Client, run: Run) -> None:
    marks = {"completeness": 9.0, "depth": 8.0, "reliability": None, "actionability": 7.0}
    Run.objects.update(quality_score=8.0)
    run.rounds.update(dimensions=marks)
    account = text(shown(client, f"/runs/{run.public_id}/research/"), ".account")
    made = "Completeness 9.0, Depth of treatment 8.0, Actionability 7.0."
    assert f"research can stop at 7.0. The marks behind it, from 1 to 10: {made}" in account
    run.rounds.update(cap=5.0, cap_reason="1 without an answer", model_score=8.0)
    account = text(shown(client, f"/runs/{run.public_id}/research/"), ".account")
    assert "The marks give 8.0; capped at 5.0: 1 without an answer." in account
    run.rounds.update(dimensions={"completeness": 8.0, "depth": None})
    account = text(shown(client, f"/runs/{run.public_id}/research/"), ".account")
    assert "Completeness" not in account, "of one mark nothing is made"


def test_the_panel_asks_what_to_judge_and_opens_the_original_page(client: Client, run: Run) -> None:
    headers = {"HX-Request": "true", "HX-Target": "citation-panel"}
    answer = client.get(f"/runs/{run.public_id}/citations/1/", headers=headers)
    panel = BeautifulSoup(answer.content, "html.parser")
    assert text(panel, ".judge > p") == (
        "Does this quote support the statement? If you reject it, the next revision loses 2 "
        "statements."
    )
    link = panel.find("a", rel="noopener")
    assert isinstance(link, Tag) and link.get_text() == "Open original page ↗"
    assert link["rel"] == ["noopener", "noreferrer"]
    assert str(link["href"]).startswith("https://") and ":~:text=" in str(link["href"])
    EvidenceSource.objects.update(url="document:oaks.pdf")
    answer = client.get(f"/runs/{run.public_id}/citations/1/", headers=headers)
    assert "Open original page" not in answer.content.decode()


def test_what_was_asked_and_what_stays_open_stand_beside_the_end(client: Client, run: Run) -> None:
    add_evidence(run, 2)
    run.aspects.filter(label="A2").update(state="not_found", raised_by="https://elms.test/")
    run.evidence.filter(label="E2").delete()
    page = shown(client, f"/runs/{run.public_id}/research/")
    told = [row.get_text() for row in page.select(".account dd")]
    assert told[0] == "2 sub-questions, 1 of them raised by what was read."
    assert told[-1] == "Part 2; Gap 1; Gap 2"
    run.gaps.update(aspect_label="A1")
    page = shown(client, f"/runs/{run.public_id}/research/")
    assert page.select(".account dd")[-1].get_text() == "Part 2; Gap 1; Gap 2"
    run.gaps.filter(label="G2").delete()
    run.gaps.update(text="Part 1")
    page = shown(client, f"/runs/{run.public_id}/research/")
    assert page.select(".account dd")[-1].get_text() == "Part 2; more detail on: Part 1"


@pytest.mark.parametrize("points", [["The age", "Its owner"], []])
def test_what_the_report_leaves_open_is_told_apart_from_earlier_gaps(
    client: Client, run: Run, points: list[str]
) -> None:
    add_evidence(run, 2)
    lines = "".join(f"- {each}\n" for each in points)
    version = run.reports.get()
    section = f"\n\n## Still open\n\n{lines}\n## Sources\n\n- A page\n" if points else ""
    run.reports.update(markdown=f"{version.markdown}{section}", checks={"open_points": len(points)})
    page = shown(client, f"/runs/{run.public_id}/research/")
    account = [row.get_text() for row in page.select(".account > div")]
    told = [line for line in account if line.startswith("Left open")]
    assert told == ["Left openThe ageIts owner"] * bool(points)
    left = [["A1", point.lower()] for point in points]
    run.reports.update(checks={"open_points": len(points), "left_open": left})
    page = shown(client, f"/runs/{run.public_id}/research/")
    assert [row.get_text() for row in page.select(".account > div")] == account
    assert text(page, ".gaps h2") == "Missing before the report was written"


def test_sites_are_counted_as_the_report_counts_them(client: Client, run: Run) -> None:
    """The report counts a page with the text of another site's as that site's."""
    other = add_evidence(run, 2)
    copy = {"url": "https://copy.test/oak.html", "domain": "copy.test"}
    other.quotes.update(**copy)
    report = run.reports.get()
    cited = {"marker": 2, "evidence_ids": [other.label], "url": copy["url"]}
    run.reports.update(citations=[*report.citations, cited])
    run.aspects.update(state="answered", evidence_labels=["E1"])
    Run.objects.update(round=1, usage={"searches": 1})
    told = "2 pages from 2 sites, of which 1 copies another"
    assert f"cites {told}" in text(shown(client, f"/runs/{run.public_id}/"), ".verdict-line")
    for tab in ("research", "sources"):
        page = shown(client, f"/runs/{run.public_id}/{tab}/")
        assert f"The report cites {told}." in " ".join(page.get_text().split()), tab


def test_evidence_of_the_report_comes_first_and_says_what_it_contradicts(
    client: Client, run: Run
) -> None:
    add_evidence(run, 2)
    run.evidence.filter(label="E1").update(contradicts=["E2"])
    page = shown(client, f"/runs/{run.public_id}/research/")
    first = ".evidence-item:first-child "
    assert text(page, f"{first}.support a") == "Citation 1"
    assert text(page, f"{first}.other-side") == "Disagrees with “Oaks grow old (2).”"
    assert not page.select(".evidence-item:last-child :is(.support a, .other-side)")


def test_the_head_says_how_good_the_evidence_is_and_where_to_see_it(
    client: Client, run: Run
) -> None:
    second = add_evidence(run, 2)
    second.quotes.update(url="https://b.test/", independence_key="b.test")
    run.aspects.filter(label="A2").delete()
    run.aspects.update(state="answered", evidence_labels=["E1", "E2"])
    Run.objects.update(quality_score=8.8)
    first = run.reports.get().citations[0]
    run.reports.update(
        markdown="**Short answer.** It is old. [1][2]\n\n## Growth\n\nIt is slow. [1] It is tall. "
        "[2]\n\n> **⚠ Sources disagree:** It is young. [1] It is not. [1][2]\n\n"
        "> **⚠ Sources disagree:** It is high. [1] It is not. [1][2]\n",
        citations=[first, {"marker": 2, "url": "https://b.test/", "evidence_ids": [second.label]}],
        checks={"statements": 5, "cited": 5, "cut": 3},
    )
    address = f"/runs/{run.public_id}/"
    limits = "2 points open · 2 points disputed"
    for tab in ("", "research/"):
        head = shown(client, address + tab)
        assert text(head, ".state-note") == limits
        assert [link["href"] for link in head.select(".state-note a")] == [
            f"{address}research/",
            f"{address}#disputes",
        ]
        day = format_day(timezone.localtime(run.finished_at or run.created_at))
        parts = head.select(".verdict-line > span")
        assert [part.get_text() for part in parts] == [
            "cites 2 pages from 2 sites",
            day,
        ]
        assert [link["href"] for link in head.select(".verdict-line a")] == [
            f"{address}sources/",
        ]
    listed = shown(client, f"{address}evidence/?standing=alone")
    points = listed.select(".all-evidence ol > li")
    assert [[each.get_text(), each["href"]] for each in points[0].select("a")] == [
        ["Growth", f"{address}#cite-1-1"]
    ]
    told = ["It is slow.", "It is tall.", "It is young.", "It is high."]
    assert [text_of(point.select_one("p")) for point in points] == told, "as many as are counted"
    assert limits in text(shown(client, "/runs/"), ".run-facts"), "the list says the same"
    soup = shown(client, address)
    assert soup.select_one(".report blockquote.dispute#dispute") is not None
    assert len(soup.select(".cite.single")) == 4
    assert "3 more were cut" in text(soup, ".report-foot")
    assert "3 more were cut" in text(shown(client, f"{address}research/"), ".account")


def test_without_a_model_the_head_rates_nothing(client: Client, run: Run) -> None:
    run.aspects.update(state="answered", evidence_labels=["E1"])
    Run.objects.update(quality_score=8.8, analyst="extractive")
    line = text(shown(client, f"/runs/{run.public_id}/"), ".verdict-line")
    assert "rated" not in line and "cites 1 page from 1 site" in line


def test_queries_are_counted_where_searches_asked_one_again(
    client: Client, run: Run, settings: Settings
) -> None:
    Run.objects.update(round=1, usage={"searches": 8})
    run.units.create(round=1, number=7, topic="Oaks", queries=["oak age", "old oaks"])
    told = text(shown(client, f"/runs/{run.public_id}/research/"), ".account dd")
    assert told.startswith("8 searches with 2 different queries in 1 round, ")
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    told = text(shown(client, f"/runs/{run.public_id}/research/"), ".account dd")
    assert told.startswith("8 Suchen mit 2 verschiedenen Suchanfragen in 1 Runde, ")


def test_cited_documents_stand_under_their_collections(client: Client, run: Run) -> None:
    urls = [f"file:///{path}" for path in ("borg/a.md", "borg/b.md", "restic/a.md", "borg/c.md")]
    cited = [{"marker": n, "url": url, "evidence_ids": []} for n, url in enumerate(urls, 1)]
    run.reports.update(citations=cited)
    page = shown(client, f"/runs/{run.public_id}/")
    assert "borg · 3 documents" in text(page, ".answer-sites")
    assert "restic · 1 document" in text(page, ".answer-sites")
    run.reports.update(citations=cited[:2])
    assert "documents" not in text(shown(client, f"/runs/{run.public_id}/"), ".answer-sites")


def test_sources_group_documents_by_their_collections(client: Client, run: Run) -> None:
    for url in ("file:///borg/a.md", "file:///borg/b.md", "file:///restic/a.md"):
        Source.objects.create(
            run=run, url=url, url_key=url, title=url[-4:], round=1, status="cited"
        )
    page = shown(client, f"/runs/{run.public_id}/sources/")
    named = " ".join(text_of(each) for each in page.select("h3"))
    assert "borg" in named and "restic" in named


def test_a_tooltip_shows_the_quote_that_its_statement_is_made_of(run: Run) -> None:
    evidence = run.evidence.get(label="E1")
    source = evidence.quotes.get()
    source.pk, source.position, source.start = None, 1, 900
    source.quote = "The bark is grey and rough."
    source.save()
    quotes = [*evidence.quotes.order_by("start")]
    first, _ = summarize_sources(quotes, {})
    about_bark, _ = summarize_sources(quotes, {}, "Its bark is rough and grey.")
    assert "The bark is grey" not in first and "The bark is grey" in about_bark
