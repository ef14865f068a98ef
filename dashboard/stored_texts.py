"""Sentences that the engine and the services write in English, worded in the reader's language.

Runs keep their sentences in English, as the journal and the API have them. A sentence is recognized
by its template, and the values between the template's words are worded in turn; what no template
matches stays as it is. New sentences are added to `TEMPLATES` together with the catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache, lru_cache

from django.utils import formats
from django.utils.functional import lazy
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

from research.engine.run import SPENT

LONGEST = 4_000
DEEPEST = 4
TEMPLATES = (
    # why a version was made (research/services/threads.py)
    _("Dug deeper on 1 question"),
    _("Dug deeper on %(n)s questions"),
    # why a run goes on or ended (research/engine/report/messages.py)
    _("Going on: %(answered)s. Missing: %(missing)s. Round %(n)s looks for %(topics)s."),
    _("Going on for more detail: %(answered)s. Round %(n)s looks for %(topics)s."),
    _("Going on: %(answered)s, but 1 point missing. Round %(n)s looks for %(topics)s."),
    _("Going on: %(answered)s, but %(gaps)s points missing. Round %(n)s looks for %(topics)s."),
    _(
        "Going on: %(answered)s. No page read so far has %(words)s together with the rest. Round %(n)s looks for %(topics)s."
    ),
    _("Going on: %(answered)s. Round %(n)s looks for %(topics)s."),
    _("Cancelled: no report was written."),
    _("Stopped at the limit of %(limit)s: %(answered)s."),
    _("Stopped when you asked: %(answered)s."),
    _("Stopped after %(rounds)s, the most for a question like this. %(answered)s."),
    _("Stopped after %(rounds)s, the most for a question like this: %(answered)s."),
    _("Looked for other sources on %(claims)s: %(confirmed)s."),
    _("%(n)s confirmed"),
    _("%(n)s confirmed, %(confirmed)s"),
    _("%(n)s not repeated by other sources"),
    _("%(n)s not repeated by other sources, %(confirmed)s"),
    _("%(n)s not to be had"),
    _("1 claim"),
    _("%(n)s claims"),
    _("Stopped as good enough: %(answered)s."),
    _(
        "Stopped: none of the pages found last could be read, and other queries led to no readable page either (%(tried)s). %(answered)s."
    ),
    _("Stopped: the whole tree was searched. %(answered)s."),
    _("Answered from %(records)s, without a new search."),
    _("1 earlier finding"),
    _("%(n)s earlier findings"),
    _(
        "Stopped: %(last)s and hardly improved the result: %(gain)s points, less than the %(least)s asked for. %(answered)s."
    ),
    _("Stopped: %(last)s and hardly improved the result. %(answered)s."),
    _(
        "Stopped: %(last)s; %(share)s of the words were new, less than the %(bar)s asked for. %(answered)s."
    ),
    _("Stopped: two rounds in a row brought nothing new. %(answered)s."),
    _("Stopped: there was no new way to search. %(answered)s."),
    _("Stopped: %(last)s. %(answered)s."),
    _("Stopped: %(answered)s, and nothing more is missing."),
    _("Stopped: %(answered)s, and no gap was left."),
    _("Stopped: %(answered)s."),
    _("Found nothing that answers this. %(tried)s."),
    _("Nothing here seems to answer this. %(tried)s."),
    _("Failed: no search or page could be reached, so nothing was found. The errors are listed."),
    _("passages come close to an answer"),
    _("passages come close to an answer, and disagree"),
    _("nothing here seems to answer this"),
    _("sources disagree on the answer"),
    _("the question is answered"),
    _("the question is answered by %(sources)s"),
    _("the question is answered with passages from %(sources)s"),
    _("the question is still open"),
    _("both sub-questions answered"),
    _("all %(n)s sub-questions answered"),
    _("%(n)s of %(total)s answered"),
    _("%(answered)s, %(n)s of them disputed"),
    _("%(answered)s, %(n)s from two or more sites"),
    _("%(answered)s, %(n)s from two or more documents"),
    _("%(answered)s, from one collection that says each thing once"),
    _("%(answered)s, passages come close to %(n)s more"),
    _("%(answered)s, while %(n)s other gives another"),
    _("%(answered)s, while %(n)s others give another"),
    _("%(n)s question stays open, %(m)s answer rests on %(one)s."),
    _("%(n)s question stays open, %(m)s answers rest on %(one)s."),
    _("%(n)s questions stay open, %(m)s answer rests on %(one)s."),
    _("%(n)s questions stay open, %(m)s answers rest on %(one)s."),
    _("%(n)s question stays open."),
    _("%(n)s questions stay open."),
    _("%(n)s answer rests on %(one)s."),
    _("%(n)s answers rest on %(one)s."),
    _("one site"),
    _("one document"),
    _("round %(n)s read %(pages)s and added %(passages)s"),
    _("%(queries)s, %(pages)s read, %(failed)s could not be read"),
    _("%(queries)s, %(pages)s read"),
    _("1 independent site"),
    _("%(n)s independent sites"),
    _("1 independent document"),
    _("%(n)s independent documents"),
    _("1 passage"),
    _("%(n)s passages"),
    _("1 page"),
    _("%(n)s pages"),
    _("1 query"),
    _("%(n)s queries"),
    _("1 search"),
    _("%(n)s searches"),
    _("1 round"),
    _("%(n)s rounds"),
    _("1 topic"),
    _("%(n)s topics"),
    _("1 model call"),
    _("%(n)s model calls"),
    _("%(n)s tokens"),
    _("%(n)s seconds"),
    _("1 record"),
    _("%(n)s records"),
    _("“%(first)s” and “%(second)s”"),
    _("“%(first)s”, “%(second)s” and %(n)s more"),
    _("more sources"),
    _("Revised after a review: %(records)s left out, %(answered)s."),
    _("Written anew from what was found, %(answered)s."),
    _("Written shorter from what was found, %(answered)s."),
    _("Written at greater length from what was found, %(answered)s."),
    _("Written as a table from what was found, %(answered)s."),
    _("Written for another reader from what was found, %(answered)s."),
    _("Written as a memo from what was found, %(answered)s."),
    _("Written as questions and answers from what was found, %(answered)s."),
    _("Written as a review of literature from what was found, %(answered)s."),
    _("Not written: the model gave no usable answer, and code can't do this by itself."),
    _("Put aside after its worker stopped unexpectedly, again and again."),
    _("Cancelled before it was finished."),
    _("Something went wrong inside Plumbline and the run was ended; the server's log says more."),
    _("The research ended without an outcome; the server's log says more."),
    _(
        "This run was begun by an earlier version of Plumbline, which this one can't continue. Its report stays readable; ask the question again to research it anew."
    ),
    # sources, as earlier versions counted sites and documents
    _("share of sub-questions with enough independent sources or left to verification"),
    _("share of sub-questions with enough independent sources"),
    _("independent sources"),
    _("one source"),
    _("1 independent source"),
    _("%(n)s independent sources"),
    _("%(answered)s, %(n)s from two or more sources"),
    _("%(answered)s, passages come close to %(n)s"),
    # samples
    _("How does Plumbline decide when to stop?"),
    _("How to make scrambled eggs?"),
    _("Impact of quantum computing on cryptocurrency security"),
    _("%(n)s pages from %(m)s sites"),
    _("%(n)s pages from %(m)s site"),
    # versions of a report
    _("Written by the model"),
    _("Revised after a review"),
    _("Follow-up question"),
    _("Researched further"),
    _("Shorter"),
    _("Longer"),
    _("As a table"),
    _("As a memo"),
    _("As questions and answers"),
    _("As a review of literature"),
    _("For %(reader)s"),
    # criteria of the gates, and what capped a score
    _("sources found"),
    _("share of pages read that are relevant"),
    _("share of sub-questions with a relevant page"),
    _("share of sub-questions with enough independent sites or left to verification"),
    _("share of sub-questions answered"),
    _("share of key claims cross-checked"),
    _("share of key claims cross-checked or left to verification"),
    _("evidence records"),
    _("records that answer a sub-question"),
    _("independent sites"),
    _("evidence gate passed"),
    _("no critical gap open"),
    _("assessment says ready"),
    _("two searches in a row brought nothing new"),
    _("the searches know of no others"),
    _("further sources were looked for"),
    _("it is one collection that says each thing once"),
    _("left out for the report's length"),
    _("%(criterion)s: %(value)s of %(minimum)s; %(reason)s"),
    _("%(criterion)s: %(value)s of %(minimum)s"),
    _("%(n)s without an answer"),
    _("%(n)s on which sources disagree"),
    _("%(n)s resting on too few sources"),
    _("%(n)s not searched"),
    _("the model's judgement could not be used"),
    _("code gave the marks"),
    _("too little evidence for the gate"),
    # what a run is doing
    _("Writing the report: about %(words)s words so far"),
    _("Searching: %(query)s"),
    _("Reading for: %(topic)s"),
    _("Reading %(host)s"),
    _("Reading your answers"),
    _("Changing the plan"),
    _("Planning queries"),
    _("Judging what was found"),
    _("Mending sentences that say more than their evidence"),
    _("Writing the summary"),
    _("Looking once more for what is still open"),
    _("Writing the report"),
    _("Checking the report"),
    _("Reading the question"),
    # pages that were refused or not read
    _("refused: the site's robots.txt excludes it"),
    _("refused: the site is left out of this research"),
    _("refused: pages of type %(type)s are not read"),
    _("refused: the page is larger than %(size)s"),
    _("the server answered %(status)s without a page"),
    _("the server answered %(status)s"),
    _("the page could not be decompressed"),
    _("the page contains no readable text"),
    _("the site took too long to answer"),
    _("no connection to the site could be made"),
    _("the site redirected to an address that cannot be read"),
    _("the site's response was cut off or corrupt"),
    _("the address could not be read"),
    _("only http and https addresses are fetched"),
    _("an unexpected error, which the server's log describes"),
    _("a person wanted to go on without the model’s answer"),
    _("a reviewer rejected this passage"),
    _("no such sentence in the pages read"),
    _("the page asks this and doesn't say it"),
    _("beyond the most findings that are kept of a page, %(n)s in all"),
    _("number differs"),
    _("date differs"),
    _("name differs"),
    _("roles differ"),
    _("pairs mixed up"),
    _("measured otherwise"),
    # why code did a task of the model (research/engine/run.py, research/llm/failures.py)
    _("no answer"),
    _("invalid answer"),
    _("the model did not answer within its share of the run's time"),
    _("the run's time was up"),
    _("the money that the budget allows is used up"),
    _("the model calls that the budget allows are used up"),
    _("the tokens that the budget allows are used up"),
    _("the model was not qualified as verifier: the budget has no room for it"),
    _("the prompt is longer than the model's context window"),
    _("the model's server gave an answer that can't be read"),
    _("the model did not answer in time"),
    _("the model's server could not be reached"),
    _("the model's server accepts connections but does not answer"),
    _("the connection to the model's server was lost"),
    _("the model's server offers no chat completions at this address"),
    _("the model's server refused the key"),
    _("the model's server does not know this model"),
    _("the quota at the model's server is used up"),
    _("the model refused to answer"),
    _("the model's server is still loading the model"),
    _("the model's server refused the request"),
    _("the model's server asks to wait %(n)s minutes"),
    _("the model's server asks to slow down"),
    _("the model's server reported an error"),
    _("the model's server answered %(status)s"),
    _("the model's server failed %(n)s times in a row and is not called for a while"),
    # what went wrong
    _("Done by code instead: %(cause)s."),
    _("Left out: %(n)s. They say something that no source does."),
    _("Left out: %(n)s. No verifier was believed on them."),
    _("The process ended while this model call was under way; it may be paid for twice."),
    _("Prompts were cut to the model's window: the least relevant of what was read is left out."),
    _("Not added: there are %(n)s already."),
    _("Not added: it is nearly the same as “%(twin)s”."),
    _("Not dropped: no sub-question is called that."),
    _("Not dropped: it is the only one. Stop the run instead."),
    _("Not dropped: the research had ended."),
    _("Not added: the research had ended."),
    _("Not dropped: it isn't followed."),
    _("Dropped after round %(n)s."),
    _("Not followed: the research had ended."),
    _("Not followed: this run has no model to read it."),
    _("Not followed: it was given before."),
    _("Not followed: there are %(n)s already."),
    # what a service refuses
    _("This run asks nothing at the moment."),
    _("This run doesn't ask about its topic."),
    _("This run has no plan that waits for approval."),
    _("There is no research to stop."),
    _("Instructions can be dropped while a run is planning or researching."),
    _("This run is not making a plan."),
    _("This run is not writing a report."),
    _("This run has no model whose answer it waits for."),
    _("This run has ended."),
    _("Only a run that is researching can be paused."),
    _("This run is not paused."),
    _("Topics can be added while a run is researching."),
    _("Topics can be dropped while a run is researching."),
    _("Only a run that is researching can dig deeper."),
    _("Instructions can be given while a run is planning or researching."),
    _("Without a model no instruction can be followed; add a sub-question instead."),
    _("A run takes at most %(n)s instructions."),
    _("Only a run that was put aside can be tried again."),
    _("The fixed mode searches a tree of a fixed size; it can be paused or stopped."),
    _("This idempotency key was used for a different question or other settings."),
    _("Only a run that failed or was cancelled can be asked again."),
    _("This was answered already; the run goes on in a moment."),
    _("This change was already made and can’t be undone here."),
    _("This run was deleted."),
    _("This run has not ended yet."),
    _("This run has not ended yet; cancel it first."),
    _("A run of this question has not ended yet; cancel it first."),
    _("A worker is still finishing this run; try again in a moment."),
    _("A later run builds on this one and has not ended yet; cancel it, or wait for its end."),
    _("This run ended before it had a plan; ask the question again instead."),
    _("This run has no report."),
    _("This run was researched; dig deeper or ask a follow-up question instead."),
    _("Only a finished report can be shared."),
    _("Sharing reports is turned off on this server."),
    _("No evidence of this report was rejected."),
    _(
        "Without a model a report can be made shorter or a table. Every other version takes a model; an admin can name one under Setup."
    ),
    _(
        "The queue is full: %(waiting)s questions wait, %(own)s of them yours. Please ask again after %(when)s, or cancel one that waits."
    ),
    _("You have a collection of that name already."),
    _("There is a collection of that folder already."),
    _("Give the collection a name."),
    _("The name has %(n)s characters; the maximum is %(most)s."),
    _("Give the whole path of a folder, such as /srv/papers."),
    _("%(path)s is not a folder of this server."),
    _("That folder holds Plumbline's own state; choose another one."),
    _("%(name)s is no longer in this collection."),
    _("None of the files can be used. %(reasons)s"),
    _("The folder %(folder)s does not exist."),
    _("%(folder)s is not a folder."),
    _("The folder %(folder)s cannot be read: permission denied."),
    _("The index of the documents cannot be opened."),
    _("the file has no name"),
    _("the name is too long"),
    _("the file is empty"),
    _("the file is too large"),
    _("the file cannot be read"),
    _("its content is here already, as %(name)s"),
    _("your uploads are limited to %(n)s MB"),
    _("Name sites such as example.org, with commas between."),
    _("The list is limited to %(n)s sites."),
    _("A note has at most %(n)s characters."),
    _("You have %(n)s tokens; revoke one first."),
    _("That token was revoked before."),
    _("A token has a name of at most %(n)s characters."),
    _("A budget is an amount above 0."),
    _("An address looks like http://localhost:11434/v1."),
    _("A context window is a whole number, such as 16384."),
    _("Prices look like small=0.10/0.40, with commas between models."),
    # what a knob takes (research/engine/knobs.py), as `dashboard.forms.knobs.tell_problem` puts it
    _("Enter %(n)s or more."),
    _("Enter %(n)s or less."),
    _("Enter a number above %(n)s."),
    _("Enter a number."),
    _("Enter a whole number."),
    _("Enter on or off."),
    _("Enter one number, or three with commas between."),
    _("Enter a day, such as 2026-01-31."),
    _("Enter a day from %(day)s on."),
    _("Enter names of sites, such as example.org, with commas between."),
    _("Enter one or more of %(kinds)s."),
    _("There is no search called %(name)s; known are %(known)s."),
    # what a sample shows
    _("Sample report"),
    # the installation
    _("none, so passages are quoted and nothing is rephrased"),
    _("the bundled sample library"),
    _("the bundled sample library (nothing else is configured)"),
    _("the web without a key (%(names)s; nothing else is configured)"),
    _("your documents, or the bundled sample library"),
    _("your documents, or the bundled sample library (nothing else is configured)"),
    _("your documents (%(folders)s)"),
    _("none"),
    # checks of the installation (research/runtime/preflight.py)
    _("Model"),
    _("Search"),
    _("Pages"),
    _("Database"),
    _("Live updates"),
    _("Verifier"),
    _("Context window"),
    _("Answers"),
    _("Protocol"),
    _("Profile"),
    _("Price"),
    _("No model is set: passages are quoted, nothing is rephrased."),
    _("Enter a server address (OPENAI_BASE_URL) and a model (RESEARCH_MODEL)."),
    _("It gave no answer."),
    _("Check that its server is responding."),
    _("It will be tested on the first run that needs it, if that run's budget allows."),
    _("%(n)s calls of the model, at most %(total)s tokens, at an unknown price"),
    _("%(n)s calls of the model, at most %(total)s tokens, at most $%(most)s"),
    _("%(n)s model calls and at most %(total)s tokens; price unknown"),
    _("%(n)s model calls and at most %(total)s tokens; no cost"),
    _("%(n)s model calls and at most %(total)s tokens; at most $%(most)s"),
    _(
        "It may check statements: of %(pairs)s wrong examples it let %(missed)s pass, of %(others)s right ones it refused %(refused)s."
    ),
    _(
        "It may not check statements: of %(pairs)s wrong examples it let %(missed)s pass, of %(others)s right ones it refused %(refused)s."
    ),
    _(
        "Statements that code can't vouch for become quotations. Name a better model under “Model that judges each round” (EVALUATOR_MODEL)."
    ),
    _("It could not be tested: %(cause)s."),
    _("Try again, or name a better model under “Model that judges each round” (EVALUATOR_MODEL)."),
    _("%(model)s can’t be used: %(cause)s."),
    _("Restart the server, or check that its address is a model server's."),
    _("Is it running, and is the server address (OPENAI_BASE_URL) right? It usually ends in /v1."),
    _("Check the server address (OPENAI_BASE_URL): it usually ends in /v1."),
    _("The account at the server has nothing left, or its limit is reached."),
    _("Wait until it is there, and try again."),
    _("Check the API key (OPENAI_API_KEY)."),
    _("Check the model (RESEARCH_MODEL): the server has to know that name."),
    _(
        "Try a smaller model, or wait longer: add MODEL_TIMEOUT_SECONDS=300 to .env, and restart Plumbline."
    ),
    _(
        "This model thinks before it answers: add MODEL_REASONING_TOKENS=4000 to .env, and restart Plumbline."
    ),
    _("If answers are cut short: add MODEL_REASONING_TOKENS=4000 to .env, and restart Plumbline."),
    _("it answers different questions with the same text"),
    _("it answers in words where JSON is asked for"),
    _(
        "Every step of a run needs answers of its own, as JSON. Choose a chat model that follows instructions (RESEARCH_MODEL), and check that the server address (OPENAI_BASE_URL) is that of a model and not of a test server."
    ),
    _("Look at its log."),
    _("%(model)s answers (%(seconds)s s for a short answer)."),
    _("Embeddings"),
    _("%(model)s answers with %(n)s numbers."),
    _("%(model)s: %(reason)s. Documents are ranked by words alone."),
    _(
        "Check the embedding model (EMBEDDING_MODEL), and its server: the model's, unless .env has EMBEDDING_BASE_URL and EMBEDDING_API_KEY."
    ),
    _("Documents were ranked by their words alone: %(reason)s."),
    _("the embedding server did not answer in time"),
    _("the embedding server gave an answer that can't be read"),
    _("the embedding server knows no such model, or offers no embeddings at this address"),
    _("the embedding server could not be reached"),
    _("the embedding server is down"),
    _("the embedding server refused the key"),
    _("the embedding server refused (HTTP %(n)s)"),
    _("The server works like OpenAI’s own."),
    _("Answers keep to a JSON schema."),
    _("The server accepts a JSON schema, but its answers don’t follow it."),
    _("The server knows JSON, not a schema."),
    _("The server takes no notice of a schema; it is asked for JSON in words."),
    _("Answers are checked and mended; more may be lost."),
    _("The server doesn't report its context window."),
    _("Enter it under “Context window” (MODEL_CONTEXT_TOKENS), so that nothing is cut silently."),
    _("%(n)s tokens."),
    _("It read a short text right; %(profile)s."),
    _("It misread a short text; %(profile)s."),
    _("Choose the small profile (MODEL_PROFILE=small): short prompts, one task at a time."),
    _("the standard profile is used"),
    _("the small profile is used"),
    _("The price of %(model)s is known."),
    _("The price of %(model)s is unknown, and so is what runs cost."),
    _("%(model)s runs on this machine, so runs count as free."),
    _(
        "Enter it under “Prices” (MODEL_PRICES) as %(model)s=INPUT/OUTPUT, in dollars per million tokens."
    ),
    _("Choose another search, or set this one up."),
    _("Try again later, or choose another search."),
    _("%(label)s: the search answers."),
    _("%(label)s: no result for a test query."),
    _("%(label)s: 1 result for a test query."),
    _("%(label)s: %(n)s results for a test query."),
    _("A page was read: %(n)s characters."),
    _("No page could be read: %(reason)s"),
    _("It cannot be asked."),
    _("Check DATABASE_URL in .env, and restart Plumbline."),
    _("%(store)s answers, its tables are up to date."),
    _("Messages come through (%(kind)s)."),
    _("No message came through (%(kind)s)."),
    _("in this process alone"),
    _("Check REDIS_URL in .env, and restart Plumbline."),
    _(
        "Check the network. For pages of an intranet, add FETCH_ALLOW_PRIVATE_HOSTS=wiki.example.org to .env, and restart Plumbline."
    ),
)
"""The sentences as the code writes them, with names for the values that it fills in."""

NUMBERS = frozenset(
    {"n", "m", "total", "minimum", "value", "missed", "refused", "status", "most", "gain", "least"}
)
"""Values that are numbers; a text in their place means that another template is meant."""
COMPOSED = frozenset(
    {"answered", "cause", "claims", "confirmed", "criterion", "failed", "kind", "last", "limit"}
    | {
        "one",
        "pages",
        "passages",
        "price",
        "profile",
        "reason",
        "reasons",
        "records",
        "rounds",
        "searches",
        "sources",
        "tried",
    }
)
"""Values that are sentences of their own; others, such as topics, are left as they are."""
LISTED = frozenset({"missing", "topics"})
"""Values that list topics: the words between these are no topics."""
_NUMBER = re.compile(r"[-+]?[\d.,]{1,20}")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,6})?|\d{1,12}(?:\.\d{1,6})?")
_VALUE = re.compile(r"%\((\w+)\)s")  # "round %(n)s" → "round ", "n", ""


def cause_in_words(cause: str) -> str:
    """Return why code did a task of the model, in the reader's language."""
    return worded(SPENT.get(cause, cause).rstrip("."))


def worded(text: str) -> str:
    """Return a stored English text in the language in use, as far as its templates are known."""
    language = get_language() or "en"
    if not text or language.split("-")[0] == "en" or len(text) > LONGEST:
        return text
    return _worded(language, str(text))


lazy_worded = lazy(worded, str)
"""Like `worded`, but when it is displayed: for the tables and fields that are built at import."""


@lru_cache(maxsize=2_048)
def _worded(language: str, text: str) -> str:
    """Return the wording, cached by `language`, which is the active one."""
    return _find_wording(text, DEEPEST) or text


def _find_wording(text: str, depth: int) -> str | None:
    """Return the wording of one sentence, or of several in a row; None if none is known."""
    if (found := _find_sentence(text, depth)) is not None:
        return found
    parts = text.split(". ")
    for place in range(len(parts) - 1, 0, -1):
        first = _find_sentence(". ".join(parts[:place]) + ".", depth)
        if first is not None:
            rest = ". ".join(parts[place:])
            return f"{first} {_find_wording(rest, depth) or rest}"
    return None


def _find_sentence(text: str, depth: int) -> str | None:
    if not text or not depth:
        return None
    if (whole := gettext(text)) != text:
        return whole
    for template, pieces in _with_values():
        values = _match(text, pieces)
        if values is not None:
            return gettext(template) % {
                name: _word_value(name, value, depth - 1) for name, value in values.items()
            }
    lowered = text[:1].lower() + text[1:]
    if lowered != text and (found := _find_sentence(lowered, depth)) is not None:
        return found[:1].upper() + found[1:]
    return None


def _word_value(name: str, value: str, depth: int) -> str:
    """Return a value in the language in use: a number with its separators, a sentence worded."""
    if name in NUMBERS and _GROUPED.fullmatch(value):
        return formats.number_format(
            Decimal(value.replace(",", "")), use_l10n=True, force_grouping="," in value
        )
    return (name in COMPOSED | LISTED and _find_wording(value, depth)) or value


@cache
def _with_values() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return templates with values, each with its words and names in turn: the longest first."""
    found = [(each, tuple(_VALUE.split(each))) for each in TEMPLATES if _VALUE.search(each)]
    return tuple(sorted(found, key=lambda pair: -sum(map(len, pair[1][::2]))))


def _match(text: str, pieces: tuple[str, ...]) -> dict[str, str] | None:
    """Return the values between the words of a template; None if the text doesn't fit.

    Each value ends where the next words are found first, so the time is linear; what is answered is
    itself a list with commas, and ends at the last one.
    """
    first, last = pieces[0], pieces[-1]
    if not text.startswith(first) or not text.endswith(last):
        return None
    if len(text) < len(first) + len(last):
        return None
    inner, rest = {}, text[len(first) : len(text) - len(last)]
    for name, after in _pairs(pieces):
        if after is None:
            inner[name] = rest
            continue
        divide = rest.rpartition if name == "answered" and after == ", " else rest.partition
        value, found, rest = divide(after)
        if not found:
            return None
        inner[name] = value
    fits = all(_fits(name, value) for name, value in inner.items())
    return inner if fits else None


def _fits(name: str, value: str) -> bool:
    """Return whether a value is of its kind: a number, part of a sentence, or any text."""
    if name in NUMBERS:
        return _NUMBER.fullmatch(value) is not None
    return bool(value) and (name not in COMPOSED or ". " not in value)


def _pairs(pieces: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield the name of each value and the words after it; None for those that end the text."""
    names, words = pieces[1::2], pieces[2::2]
    for place, name in enumerate(names):
        yield name, words[place] if place < len(names) - 1 else None
