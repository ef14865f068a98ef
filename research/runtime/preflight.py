"""Tries everything that a run needs, and reports the results with advice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.core.checks import run_checks
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.ports import SearchRequest, ToolFailedError, Tools
from research.engine.records import Qualification
from research.engine.report.messages import count_noun
from research.engine.verifier.qualification import is_qualified
from research.fulltext.meaning import EmbeddingFailedError
from research.llm.local import LocalServer, find_local
from research.llm.probe import Probe, probe_model
from research.llm.settings import ModelSettings, is_loopback
from research.llm.window import Window
from research.runtime import installation, status_summary, tool_factory, verifier
from research.runtime.installation import Installation
from research.runtime.settings_check import TAG
from research.runtime.source_choices import chosen_sources, documents_alone

State = Literal["good", "fair", "bad", "idle"]

MODEL = "Model"
CHECK_SECONDS = 60.0
QUALIFYING_SECONDS = 240.0
WIDE_ENOUGH = 8192
PLAIN = "The server works like OpenAI’s own."
RESTART = "to .env, and restart Plumbline."
REASON = f"add MODEL_REASONING_TOKENS=4000 {RESTART}"
EMBEDDINGS_ADVICE = (
    "Check the embedding model (EMBEDDING_MODEL), and its server: the model's, unless .env has "
    "EMBEDDING_BASE_URL and EMBEDDING_API_KEY."
)
BETTER = "a better model under “Model that judges each round” (EVALUATOR_MODEL)."
AGAIN = f"Try again, or name {BETTER}"
NOW = "Run manage.py preflight --qualify or use the button on Setup: {price}."
TRIED_QUERY = "history of the printing press"
CHANNEL = "preflight-check"


@dataclass(frozen=True)
class Check:
    """Result of a check. "fair" means usable with a limitation, "idle" optional and not set up.

    The advice names a field of the Setup page by its label, then its variable in parentheses.
    """

    name: str
    state: State
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Preflight:
    """All checks in the order in which they matter, and the model servers of this machine."""

    checks: tuple[Check, ...]
    local: tuple[LocalServer, ...]

    @property
    def is_model_refused(self) -> bool:
        """Return whether the model that was tried can't be used."""
        return any(check.name == MODEL and check.state == "bad" for check in self.checks)

    @property
    def ready(self) -> bool:
        return not any(check.state == "bad" for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        return {"ready": self.ready, **asdict(self)}


async def run_preflight(qualify: bool = False, now: Installation | None = None) -> Preflight:
    """Run all checks concurrently. Failures are returned as checks; nothing is raised.

    With `qualify` the model also judges the labelled pairs, which takes several calls. The settings
    tried are `now`, or those in effect.
    """
    database = await sync_to_async(_database)()
    if database.state == "bad":
        return Preflight((database,), ())
    now = now or await sync_to_async(installation.current_installation)()
    local, model, embeddings, search, channels = await asyncio.gather(
        find_local(settings.LOCAL_MODEL_PORTS),
        _run_within(MODEL, _model_and_verifier(now, qualify), QUALIFYING_SECONDS * qualify),
        _run_within("Embeddings", check_embeddings(now)),
        _run_within("Search", _search_and_fetch(now)),
        _run_within("Live updates", _channels()),
    )
    named = await sync_to_async(_unknown_settings)()
    checks = (*_offered(now, local), *model, *embeddings, *search, database, *channels, *named)
    return Preflight(checks, tuple(local))


async def _run_within(
    name: str, checks: Awaitable[Sequence[Check]], more_seconds: float = 0.0
) -> Sequence[Check]:
    try:
        async with asyncio.timeout(CHECK_SECONDS + more_seconds):
            return await checks
    except TimeoutError:
        return [Check(name, "bad", "It gave no answer.", "Check that its server is responding.")]


# --- the model ------------------------------------------------------------------------------


def _offered(now: Installation, local: Sequence[LocalServer]) -> list[Check]:
    """Return the check of an installation without a model, naming servers of this machine."""
    if now["RESEARCH_MODEL"]:
        return []
    found = "No model is set: passages are quoted, nothing is rephrased."
    if not local:
        advice = "Enter a server address (OPENAI_BASE_URL) and a model (RESEARCH_MODEL)."
        return [Check(MODEL, "idle", found, advice)]
    offers = "; ".join(f"{s.name} at {s.address} with {', '.join(s.models[:3])}" for s in local)
    return [Check(MODEL, "idle", found, f"On this machine runs {offers}. Choose it.")]


async def _model_and_verifier(now: Installation, qualify: bool) -> list[Check]:
    """Return the model's checks; a model that answers may be qualified as verifier."""
    found = await check_model(now)
    if not found or found[0].state == "bad":
        return found
    return [*found, await check_verifier(now, qualify)]


async def check_verifier(now: Installation, qualify: bool = False) -> Check:
    """Return the model's qualification as verifier: as stored, or determined now.

    Raise `ValueError` if no model is set.
    """
    wanted = now.model_settings
    if wanted is None:
        raise ValueError("no model is set")
    if qualify:
        try:
            made = await verifier.qualify_model(wanted)
        except TaskFailedError as failed:
            return Check("Verifier", "bad", f"It could not be tested: {failed.cause}.", AGAIN)
        await sync_to_async(verifier.store_qualification)(wanted, made)
    known = await sync_to_async(verifier.stored_qualification)(wanted)
    if known is None:
        found = "It will be tested on the first run that needs it, if that run's budget allows."
        return Check("Verifier", "idle", found, NOW.format(price=verifier.price_told(wanted)))
    return _verifier(known, now.defaults.verifier_most_errors)


def _verifier(known: Qualification, most_errors: int) -> Check:
    found = (
        f"of {known.false_pairs} wrong examples it let {known.missed} pass, of "
        f"{known.faithful_pairs} right ones it refused {known.refused}."
    )
    if is_qualified(known, most_errors):
        return Check("Verifier", "good", f"It may check statements: {found}")
    advice = f"Statements that code can't vouch for become quotations. Name {BETTER}"
    return Check("Verifier", "fair", f"It may not check statements: {found}", advice)


async def check_model(now: Installation) -> list[Check]:
    """Try the configured model with short calls; return no checks if there is none."""
    wanted = now.model_settings
    if wanted is None:
        return []
    found = await probe_model(wanted)
    at = f"{wanted.research_model} at {now.model_host}"
    if found.failure is not None:
        said = f"{at} can’t be used: {found.failure}."
        return [Check(MODEL, "bad", said, _mend(found.failure))]
    return [
        Check(MODEL, "good", f"{at} answers ({found.seconds} s for a short answer)."),
        _check_window(found.window),
        _form(found),
        _manner(found),
        _able(found, now),
        _price(wanted, status_summary.price_known(wanted)),
    ]


async def check_embeddings(now: Installation) -> list[Check]:
    """Try the configured embedding model with one text; return no checks if there is none."""
    wanted = now.embedding_settings
    if wanted is None:
        return []
    from research.llm.embeddings import EmbeddingModel  # takes long to import

    model = EmbeddingModel(wanted)
    try:
        [vector] = await model.embed_queries(["mending a boat"])
    except EmbeddingFailedError as failed:
        found = f"{wanted.model}: {failed}. Documents are ranked by words alone."
        return [Check("Embeddings", "bad", found, EMBEDDINGS_ADVICE)]
    finally:
        await model.aclose()
    return [Check("Embeddings", "good", f"{wanted.model} answers with {len(vector)} numbers.")]


UNUSABLE = (
    "Every step of a run needs answers of its own, as JSON. Choose a chat model that follows"
    " instructions (RESEARCH_MODEL), and check that the server address (OPENAI_BASE_URL) is that of"
    " a model and not of a test server."
)


def _mend(failure: str) -> str:
    hints = {
        "does not answer": "Restart the server, or check that its address is a model server's.",
        "reached": "Is it running, and is the server address (OPENAI_BASE_URL) right?"
        " It usually ends in /v1.",
        "at this address": "Check the server address (OPENAI_BASE_URL): it usually ends in /v1.",
        "quota": "The account at the server has nothing left, or its limit is reached.",
        "loading": "Wait until it is there, and try again.",
        "key": "Check the API key (OPENAI_API_KEY).",
        "know this model": "Check the model (RESEARCH_MODEL): the server has to know that name.",
        "in time": f"Try a smaller model, or wait longer: add MODEL_TIMEOUT_SECONDS=300 {RESTART}",
        "reasoning": f"This model thinks before it answers: {REASON}",
        "same text": UNUSABLE,
        "in words": UNUSABLE,
    }
    return next((hint for word, hint in hints.items() if word in failure), "Look at its log.")


WIDEN = {
    "Ollama": "Start Ollama with OLLAMA_CONTEXT_LENGTH=16384, or give the model a larger num_ctx.",
    "llama.cpp": "Start llama-server with -c 16384; -np divides it among that many slots.",
    "vLLM": "Start vLLM with a larger --max-model-len.",
    "LM Studio": "Load the model in LM Studio with a larger context length.",
}


def _check_window(window: Window | None) -> Check:
    if window is None:
        return Check("Context window", "fair", "The server doesn't report its context window.",
                     "Enter it under “Context window” (MODEL_CONTEXT_TOKENS), so that nothing is "
                     "cut silently.")  # fmt: skip
    found = f"{window.tokens:,} tokens"
    found += (
        f" of the model's {window.most:,}" if window.most and window.most > window.tokens else ""
    )
    if window.tokens >= WIDE_ENOUGH:
        return Check("Context window", "good", f"{found}.")
    widen = WIDEN.get(window.server, "Start the server with a larger one.")
    return Check("Context window", "fair", f"{found}: small. Prompts are cut to it, aloud.", widen)


def _form(found: Probe) -> Check:
    if found.keeps_schema:
        return Check("Answers", "good", "Answers keep to a JSON schema.")
    if found.takes.form == "json_schema":
        said = "The server accepts a JSON schema, but its answers don’t follow it."
    elif found.takes.form == "json_object":
        said = "The server knows JSON, not a schema."
    else:
        said = "The server takes no notice of a schema; it is asked for JSON in words."
    return Check("Answers", "fair", said, "Answers are checked and mended; more may be lost.")


def _manner(found: Probe) -> Check:
    """Return the check of the protocol: peculiarities of the server that runs can handle."""
    takes, ways = found.takes, []
    if takes.streaming == "always":
        ways.append("it only streams")
    if not found.counts:
        ways.append("it does not count tokens, so they are estimated")
    if takes.token_limit == "max_completion_tokens":
        ways.append("it calls the length limit max_completion_tokens")
    if takes.most_output:
        ways.append(f"it writes at most {takes.most_output:,} tokens at once")
    if not takes.system_role:
        ways.append("it takes no system message")
    refused = {"a reasoning effort": takes.reasoning_effort, "a temperature": takes.temperature}
    ways += [f"it takes no {name}" for name, taken in refused.items() if not taken]
    if takes.reasons:
        ways.append("the model thinks before it answers")
    said = "; ".join(ways)
    advice = f"If answers are cut short: {REASON}" if takes.reasons else ""
    return Check("Protocol", "good", f"{said[0].upper()}{said[1:]}." if said else PLAIN, advice)


def _able(found: Probe, now: Installation) -> Check:
    small = now.defaults.model_profile == "small"
    if found.able:
        return Check("Profile", "good", f"It read a short text right; {_profile(small)}.")
    found_wrong = f"It misread a short text; {_profile(small)}."
    if small:
        return Check("Profile", "good", found_wrong)
    advice = "Choose the small profile (MODEL_PROFILE=small): short prompts, one task at a time."
    return Check("Profile", "fair", found_wrong, advice)


def _profile(small: bool) -> str:
    return f"the {'small' if small else 'standard'} profile is used"


def _price(wanted: ModelSettings, known: bool) -> Check:
    model = wanted.research_model
    if known:
        return Check("Price", "good", f"The price of {model} is known.")
    if is_loopback(urlsplit(wanted.address).hostname or ""):
        return Check("Price", "good", f"{model} runs on this machine, so runs count as free.")
    named = f"“Prices” (MODEL_PRICES) as {model}=INPUT/OUTPUT, in dollars per million tokens."
    unknown = f"The price of {model} is unknown, and so is what runs cost."
    return Check("Price", "idle", unknown, f"Enter it under {named}")


# --- the rest -------------------------------------------------------------------------------


async def _search_and_fetch(now: Installation) -> list[Check]:
    """Search as a run does, and fetch the first readable page of the results."""
    label = await sync_to_async(status_summary.describe_search)(now)
    alone = await sync_to_async(lambda: documents_alone(chosen_sources(now)))()
    try:
        async with tool_factory.own_tools(now) as tools:
            return await _check_search(label, tools, is_library=bool(alone))
    except ToolFailedError as failed:
        return [Check("Search", "bad", failed.reason, "Choose another search, or set this one up.")]


async def _check_search(label: str, tools: Tools, *, is_library: bool) -> list[Check]:
    """Search for a subject of any web search; a library may know nothing of it."""
    answer = await tools.search.search(SearchRequest(TRIED_QUERY, 5))
    notes = " ".join(answer.notes)
    if not answer.hits and not is_library:
        nothing = f"{label}: no result for a test query. {notes}".strip()
        return [Check("Search", "fair", nothing, "Try again later, or choose another search.")]
    results = count_noun(len(answer.hits), "result")
    said = "the search answers" if is_library else f"{results} for a test query"
    check = Check("Search", "fair" if notes else "good", f"{label}: {said}. {notes}".strip())
    if not answer.hits:
        return [check]
    return [check, await _fetched([hit.url for hit in answer.hits], tools)]


async def _fetched(urls: Sequence[str], tools: Tools) -> Check:
    reason = ""
    for url in urls[:3]:
        try:
            page = await tools.fetch.fetch(url)
        except ToolFailedError as failed:
            reason = failed.reason
        else:
            return Check("Pages", "good", f"A page was read: {len(page.text):,} characters.")
    hosts = f"add FETCH_ALLOW_PRIVATE_HOSTS=wiki.example.org {RESTART}"
    advice = f"Check the network. For pages of an intranet, {hosts}"
    return Check("Pages", "bad", f"No page could be read: {reason}", advice)


def _unknown_settings() -> list[Check]:
    """Return the warnings about names in `.env`, which are otherwise ignored."""
    return [
        Check("Settings", "fair", str(found.msg), str(found.hint))
        for found in run_checks(tags=[TAG])
    ]


def _database() -> Check:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return Check(
            "Database",
            "bad",
            "It cannot be asked.",
            "Check DATABASE_URL in .env, and restart Plumbline.",
        )
    if pending:
        return Check("Database", "bad", f"{len(pending)} changes to its tables are waiting.",
                     "Run manage.py migrate; manage.py serve does so too.")  # fmt: skip
    return Check(
        "Database", "good", f"{status_summary.describe_store()} answers, its tables are up to date."
    )


async def _channels() -> list[Check]:
    """Send a message to this process the way that pages are notified of progress."""
    layer = get_channel_layer()
    kind = "Redis" if settings.REDIS_URL else "in this process alone"
    try:
        await layer.send(CHANNEL, {"type": "check"})
        await asyncio.wait_for(layer.receive(CHANNEL), 3)
    except (OSError, TimeoutError):
        return [Check("Live updates", "bad", f"No message came through ({kind}).",
                      "Check REDIS_URL in .env, and restart Plumbline.")]  # fmt: skip
    return [Check("Live updates", "good", f"Messages come through ({kind}).")]
