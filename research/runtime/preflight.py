"""Tries everything that a run needs, and reports the results with advice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

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
from research.llm.window import Window
from research.runtime import installation, status_summary, tool_factory, verifier
from research.runtime.installation import Installation
from research.runtime.settings_check import TAG

State = Literal["good", "fair", "bad", "idle"]

CHECK_SECONDS = 60.0
QUALIFYING_SECONDS = 240.0
WIDE_ENOUGH = 8192
PLAIN = "It is spoken to as OpenAI's own server is."
EMBEDDINGS_ADVICE = "Check EMBEDDING_MODEL, and the address and key of its server."
AGAIN = "Try again, or set EVALUATOR_MODEL to a better model."
NOW = "Run manage.py preflight --qualify or use the button on Setup: {price}."
TRIED_QUERY = "history of the printing press"
CHANNEL = "preflight-check"


@dataclass(frozen=True)
class Check:
    """Result of a check. "fair" means usable with a limitation, "idle" optional and not set up."""

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
    def ready(self) -> bool:
        return not any(check.state == "bad" for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        return {"ready": self.ready, **asdict(self)}


async def run_preflight(qualify: bool = False) -> Preflight:
    """Run all checks concurrently. Failures are returned as checks; nothing is raised.

    With `qualify` the model also judges the labelled pairs, which takes several calls.
    """
    database = await sync_to_async(_database)()
    if database.state == "bad":
        return Preflight((database,), ())
    now = await sync_to_async(installation.current_installation)()
    local, model, embeddings, search, channels = await asyncio.gather(
        find_local(settings.LOCAL_MODEL_PORTS),
        _run_within("Model", _model_and_verifier(now, qualify), QUALIFYING_SECONDS * qualify),
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
        advice = "Set OPENAI_BASE_URL and RESEARCH_MODEL, or choose them on the setup page."
        return [Check("Model", "idle", found, advice)]
    offers = "; ".join(f"{s.name} at {s.address} with {', '.join(s.models[:3])}" for s in local)
    return [Check("Model", "idle", found, f"On this machine runs {offers}. Choose it.")]


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
    advice = "Statements that code can't vouch for become quotations. Set EVALUATOR_MODEL to a"
    return Check(
        "Verifier", "fair", f"It may not check statements: {found}", f"{advice} better model."
    )


async def check_model(now: Installation) -> list[Check]:
    """Try the configured model with two short calls; return no checks if there is none."""
    wanted = now.model_settings
    if wanted is None:
        return []
    found = await probe_model(wanted)
    at = f"{wanted.research_model} at {now.model_host}"
    if found.failure is not None:
        said = found.failure[0].upper() + found.failure[1:]
        return [Check("Model", "bad", f"{at}: {said}.", _mend(found.failure))]
    return [
        Check("Model", "good", f"{at} answers ({found.seconds} s for a short answer)."),
        _check_window(found.window),
        _form(found),
        _manner(found),
        _able(found, now),
        _price(wanted.research_model, status_summary.price_known(wanted)),
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


def _mend(failure: str) -> str:
    hints = {
        "does not answer": "Restart the server, or check that its address is a model server's.",
        "reached": "Is it running, and is OPENAI_BASE_URL right? It usually ends in /v1.",
        "at this address": "Check OPENAI_BASE_URL: it usually ends in /v1.",
        "quota": "The account at the server has nothing left, or its limit is reached.",
        "loading": "Wait until it is there, and try again.",
        "key": "Check OPENAI_API_KEY.",
        "know this model": "Check RESEARCH_MODEL against the models that the server lists.",
        "in time": "Try a smaller model, or raise MODEL_TIMEOUT_SECONDS.",
        "reasoning": "Raise MODEL_REASONING_TOKENS: this model thinks before it answers.",
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
        return Check("Context window", "fair", "The server doesn't tell its window.",
                     "Set MODEL_CONTEXT_TOKENS, so that nothing is cut in silence.")  # fmt: skip
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
        said = "The server takes a JSON schema and does not keep to it."
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
        ways.append("the model thinks before it answers: raise MODEL_REASONING_TOKENS")
    said = "; ".join(ways)
    return Check("Protocol", "good", f"{said[0].upper()}{said[1:]}." if said else PLAIN)


def _able(found: Probe, now: Installation) -> Check:
    small = now.defaults.model_profile == "small"
    if found.able:
        return Check("Profile", "good", f"It read a short text right; {_profile(small)}.")
    advice = "" if small else "Choose MODEL_PROFILE=small: short prompts, one thing at a time."
    state: State = "good" if small else "fair"
    return Check("Profile", state, f"It read a short text wrong; {_profile(small)}.", advice)


def _profile(small: bool) -> str:
    return f"the {'small' if small else 'standard'} profile is used"


def _price(model: str, known: bool) -> Check:
    if known:
        return Check("Price", "good", f"The price of {model} is known.")
    named = f"MODEL_PRICES={model}=INPUT/OUTPUT names it, in dollars per million tokens."
    return Check("Price", "idle", f"The price of {model} is unknown, and shown so.", named)


# --- the rest -------------------------------------------------------------------------------


async def _search_and_fetch(now: Installation) -> list[Check]:
    """Search as a run does, and fetch the first readable page of the results."""
    label = await sync_to_async(status_summary.describe_search)(now)
    try:
        async with tool_factory.own_tools(now) as tools:
            return await _check_search(label, tools)
    except ToolFailedError as failed:
        return [Check("Search", "bad", failed.reason, "Choose another search, or set this one up.")]


async def _check_search(label: str, tools: Tools) -> list[Check]:
    answer = await tools.search.search(SearchRequest(TRIED_QUERY, 5))
    notes = " ".join(answer.notes)
    if not answer.hits:
        nothing = f"{label}: no result for “{TRIED_QUERY}”. {notes}".strip()
        advice = "Fine for a library that knows nothing of it; else try another."
        return [Check("Search", "fair", nothing, advice)]
    state: State = "fair" if notes else "good"
    results = count_noun(len(answer.hits), "result")
    found = f"{label}: {results} for “{TRIED_QUERY}”. {notes}".strip()
    return [Check("Search", state, found), await _fetched([hit.url for hit in answer.hits], tools)]


async def _fetched(urls: Sequence[str], tools: Tools) -> Check:
    reason = ""
    for url in urls[:3]:
        try:
            page = await tools.fetch.fetch(url)
        except ToolFailedError as failed:
            reason = failed.reason
        else:
            return Check("Pages", "good", f"A page was read: {len(page.text):,} characters.")
    advice = "Look at the network, or at FETCH_ALLOW_PRIVATE_HOSTS for an intranet."
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
        return Check("Database", "bad", "It cannot be asked.", "Look at DATABASE_URL.")
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
                      "Look at REDIS_URL.")]  # fmt: skip
    return [Check("Live updates", "good", f"Messages come through ({kind}).")]
