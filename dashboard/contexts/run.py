"""State, sentences and available actions of a run, and the plan that it asks to approve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any
from zlib import crc32

from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import titles, words
from dashboard.addresses import address_of, is_shared
from dashboard.contexts.aspects import count_answered, describe_uncertainty, exclude_dropped
from dashboard.contexts.evidence import count_evidence
from dashboard.contexts.pending_commands import is_refused_wish
from dashboard.contexts.rounds import searches_tried
from dashboard.plans import span_of_time
from dashboard.prices import describe_price, is_model_local
from dashboard.queries.run_rows import RunRows
from dashboard.queries.usage import seconds_per_call
from dashboard.stored_texts import worded
from research.engine.assessment.answer_status import Trust
from research.engine.budget.estimate import SECONDS_PER_CALL
from research.engine.evidence.origin import is_collection, work_of
from research.engine.journal import EARLIER_FORM
from research.engine.records import Status
from research.models import Problem, Run
from research.models.runs import REWRITES
from research.queue.admission import Place
from research.readmodel.progress import Waiting, why_waiting
from research.readmodel.progress_parts import DraftedPart, Progress
from research.services.runs import REPEATABLE_STATUSES
from research.worker.commands import (
    ALLOWED,
    WAKES,
    Kind,
    is_pausing,
    possible_commands,
    why_impossible,
)

BEGUN = frozenset({Status.RESEARCHING, Status.PAUSED, Status.WRITING, Status.STALLED})
"""Statuses in which cancelling can discard evidence: the user is asked to confirm."""

ASKING = frozenset({Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL})
"""Statuses in which the page shows a form to be filled in."""

PAGES_NAMED = 6
"""Pages that are named before the first quotes are there."""

STEERING = ("can_steer", "can_instruct", "no_instructions")
"""What the steering area has, of the head of a run."""
BUTTONS = (
    *("can_pause", "can_keep_on", "can_resume", "can_retry", "can_stop", "can_plan_by_code"),
    *("can_finish_by_code", "can_cancel", "can_ask_again"),
)
HINTS = {
    "can_stop": _(
        "“Stop and report” ends searching and reading; the report is written from what was found."
    ),
    "can_plan_by_code": _(
        "“Plan without the model” stops waiting for it: the question as worded becomes the plan."
    ),
    "can_finish_by_code": _(
        "“Finish without the model” stops waiting for it: what it hasn’t written appears as "
        "quotations, and so does what it hasn’t checked, unless code vouches for it."
    ),
}
"""What pressing the button of a stage does."""
TITLE_MARKS = {
    Status.FAILED: "✗",
    Status.CANCELLED: "–",
    Trust.ANSWERED: "✓",
    Trust.DISPUTED: "◐",
    Trust.PARTLY: "◐",
    Trust.RELATED: "–",
    Trust.NOT_ANSWERED: "–",
    Trust.NOTHING_FOUND: "–",
}
FAVICONS = {
    Status.FAILED: "failed",
    Status.CANCELLED: "idle",
    Trust.ANSWERED: "done",
    Trust.DISPUTED: "done",
    Trust.PARTLY: "done",
    Trust.RELATED: "idle",
    Trust.NOT_ANSWERED: "idle",
    Trust.NOTHING_FOUND: "idle",
}
"""Mark in the title and icon of the browser tab, by how an ended run turned out."""

STANDING = {
    Status.QUEUED: _("Starts as soon as a worker is free."),
    Status.INTAKE: _("Sub-questions appear as soon as the question is understood."),
    Status.AWAITING_CLARIFICATION: _("It needs an answer from you before it starts."),
    Status.AWAITING_APPROVAL: _("The plan is ready. Review it, then start."),
    Status.RESEARCHING: _("Researching."),
    Status.PAUSED: _("Paused. Nothing is searched or spent."),
    Status.WRITING: _("The checked report will appear here."),
    Status.STALLED: _(
        "Put aside after repeated crashes. What was found is saved: try again, or cancel."
    ),
}
PAUSING = _("Pausing: this round is finished first. After it, nothing is searched or spent.")
ENDINGS = {
    Status.COMPLETED: _("Done."),
    Status.CANCELLED: _("Cancelled."),
}
SITES_SHOWN = 3
"""Sites that are named below an answer."""
NO_SEARCH, GONE = "No search provider answered", "These documents no longer exist"
FAILURES = {
    "model": (
        _("The model gave no usable answer"),
        _("The cause is the model server, not your question. Check it, then try again."),
    ),
    "search": (
        _("The search service did not respond"),
        _(
            "The cause is the search service, not your question. Try again in a few minutes. If it "
            "fails again, an administrator can choose another search under Setup."
        ),
    ),
    "pages": (
        _("No page could be read"),
        _("The cause is the sites or the connection, not your question. Try again later."),
    ),
    "earlier": (
        _("Begun by an earlier version of Plumbline"),
        _("This version can’t continue it. Ask the question again to research it anew."),
    ),
    "documents": (
        _("The chosen documents no longer exist"),
        _("Add them again under Documents, or choose others, and ask the question again."),
    ),
    "itself": (
        _("Something went wrong inside Plumbline"),
        _(
            "The cause is not your question. Try again. If it happens again, an administrator "
            "finds the details in the server’s log."
        ),
    ),
}
"""What made a run fail: what happened; whose it is and what to do."""

NO_MODEL = _("Passages chosen by code; no model has assessed whether they answer the question.")


def run_head(
    run: Run,
    told: AbstractSet[str] = frozenset(),
    trust: Trust | None = None,
    *,
    judged_by_model: bool = True,
) -> dict[str, Any]:
    """Return the header of a run's page.

    `told` has the kinds of pending commands. The header already shows their effect.
    """
    heard = goes_on(run, told)
    state = state_of(run, told, trust, judged_by_model=judged_by_model)
    asks = run.waiting and not heard
    turned_out = trust or Status(run.status)
    is_likely = state is words.LIKELY_ANSWERED
    can = set(possible_commands(run.status, run.mode, run.asks, has_model=run.has_model))
    is_taken = run.status in ALLOWED[Kind.INSTRUCT] - ASKING and run.kind not in REWRITES
    is_refused = is_taken and Kind.INSTRUCT not in can and run.status != Status.INTAKE
    return {
        "id": run.public_id,
        "url": address_of(run, "run"),
        "question": run.question,
        "title": titles.title_of(run),
        "state": state,
        "mark": "○" if is_likely else TITLE_MARKS.get(turned_out, "?" if asks else "…"),
        "favicon": "idle" if is_likely else FAVICONS.get(turned_out, "asks" if asks else "busy"),
        "live": not run.ended and (heard or not run.waiting),
        "asks": asks,
        "can_pause": Kind.PAUSE in can and Kind.PAUSE not in told,
        "can_keep_on": is_pausing(run.status, told),
        "can_resume": Kind.RESUME in can and not heard,
        "can_retry": Kind.RETRY in can,
        "can_stop": Kind.STOP in can - told and Kind.PLAN_BY_CODE not in can,
        "can_plan_by_code": Kind.PLAN_BY_CODE in can - told,
        "can_finish_by_code": Kind.FINISH_BY_CODE in can - told,
        "can_cancel": Kind.CANCEL in can and Kind.CANCEL not in told,
        "can_steer": Kind.ADD_TOPIC in can,
        "can_instruct": is_taken and Kind.INSTRUCT in can,
        "past_instructions": run.status == Status.WRITING
        and run.kind not in REWRITES
        and Kind.INSTRUCT
        in possible_commands(Status.RESEARCHING, run.mode, has_model=run.has_model),
        "no_instructions": worded(
            why_impossible(Kind.INSTRUCT, run.mode, has_model=run.has_model) if is_refused else ""
        ),
        "can_ask_again": run.status in REPEATABLE_STATUSES - {Status.FAILED},
        "has_begun": run.status in BEGUN,
        "ended": run.ended,
        "completed": run.status == Status.COMPLETED,
        "failed": run.status == Status.FAILED,
        "put_aside": run.status == Status.STALLED and not heard,
        "created": run.created_at,
    }


def state_of(
    run: Run, told: Container[str], trust: Trust | None, *, judged_by_model: bool = True
) -> words.State:
    if goes_on(run, told):
        return words.GOES_ON
    if is_pausing(run.status, told):
        return words.PAUSING
    return words.run_state(run, trust, judged_by_model=judged_by_model)


def goes_on(run: Run, told: Container[str]) -> bool:
    """Return whether a pending command resumes the waiting run."""
    return any(kind in told for kind in WAKES.get(Status(run.status), ()))


def verdict_sentence(rows: RunRows) -> str:
    """Return the sentence that summarizes the current state of the run and its reason."""
    run, told = rows.run, rows.told
    if run.status == Status.FAILED:  # `failure_context` has all there is to say
        return ""
    if run.ended:
        return worded(run.termination_text or "") or str(ENDINGS[Status(run.status)])
    if Kind.CANCEL in told:
        return gettext("Cancelling.")
    if Kind.STOP in told:
        return gettext("Stopping: the report is written from the findings so far.")
    if Kind.PLAN_BY_CODE in told and run.status == Status.INTAKE:
        return gettext("Going on without the model: code makes the plan.")
    if Kind.FINISH_BY_CODE in told:
        return gettext("Finishing without the model.")
    if goes_on(run, told):
        return gettext("Understood. Continuing in a moment.")
    if is_pausing(run.status, told):
        return str(PAUSING)
    if run.status == Status.PAUSED:
        return worded(run.asks or "") or str(STANDING[Status.PAUSED])
    verdict = worded(run.verdict) or interim_sentence(rows)
    return f"{verdict} {describe_findings(rows)}" if run.status == Status.STALLED else verdict


def describe_findings(rows: RunRows) -> str:
    """Return what was found before a run was put aside."""
    found = count_evidence(rows)
    if not found["total"]:
        return gettext("Nothing was found before that.")
    return gettext("Found so far: %(claims)s from %(support)s.") % {
        "claims": words.count_noun(found["total"], "claim"),
        "support": found["support"],
    }


def interim_sentence(rows: RunRows) -> str:
    """Return the sentence shown until the first verdict."""
    aspects = exclude_dropped(rows.progress.aspects)
    if rows.run.status == Status.RESEARCHING and aspects:
        sentence = gettext("Researching: %(n)s of %(total)s answered so far.")
        return sentence % {"n": count_answered(aspects), "total": len(aspects)}
    if rows.place is not None:
        return queue_sentence(rows.place)
    queued = why_waiting(rows.run)
    if queued and queued.files:
        return gettext("Starts as soon as your documents are read.")
    return str(STANDING[Status(rows.run.status)])


def queue_sentence(place: Place) -> str:
    """Return why a run waits; `waiting_sentence` says for how many others."""
    if not place.has_worker:
        return gettext("No worker is running at the moment. It starts as soon as one is.")
    return str(STANDING[Status.QUEUED])


def verdict_line(payload: Progress) -> Iterator[str]:
    """Yield round or level, score and what is missing, as far as they exist."""
    quality = payload.quality
    if payload.run.round:
        yield describe_position(payload)
    if quality.score is not None:
        yield describe_score(payload)
    if payload.gaps or quality.score is not None:
        missing = sum(gap.closed_round is None for gap in payload.gaps)
        yield (
            ngettext("%(n)s point missing", "%(n)s points missing", missing)
            % {"n": words.format_number(missing)}
            if missing
            else gettext("nothing missing")
        )


def running_line(rows: RunRows) -> Iterator[str]:
    """Yield how far a run under way is, and its cost."""
    yield from verdict_line(rows.progress)
    yield from cost_so_far(rows)


def cost_so_far(rows: RunRows) -> Iterator[str]:
    """Yield what a run under way has cost, and at most will by its plan; nothing if it is free or
    the price is unknown.
    """
    spent = rows.progress.usage["cost_usd"]
    if not spent:
        return
    stored = (rows.run.plan or {}).get("estimate") or {}
    most = stored["cost_usd"][1] if stored.get("cost_usd") else 0.0
    told = {"spent": words.format_usd(spent, 2), "most": words.format_usd(most, 2)}
    if most > spent:
        yield gettext("%(spent)s so far, estimated up to %(most)s") % told
    else:
        yield gettext("%(spent)s so far") % told


def clock_context(rows: RunRows) -> dict[str, Any]:
    """Return since when a run is under way, from its approval on, and how long it may take; {}
    while it stands still.
    """
    run = rows.run
    if run.status in {Status.PAUSED, Status.STALLED}:
        return {}
    approved = [row.created_at for row in rows.commands if row.kind == Kind.APPROVE]
    begun = max(approved, default=run.started_at)
    return {"begun": begun, "usual": _describe_time(rows, begun)}


def _describe_time(rows: RunRows, begun: datetime | None) -> str:
    """Return how long a run may take by its plan, with the mean time that its own calls took
    instead of the assumed one; '' once that has passed.
    """
    stored = (rows.run.plan or {}).get("estimate")
    if not stored or begun is None:
        return ""
    each = seconds_per_call(rows.run)
    shares = (each / assumed if each else 1.0 for assumed in SECONDS_PER_CALL)
    least, most = sorted(
        min(rows.config.max_seconds, seconds * share)
        for seconds, share in zip(stored["seconds"], shares, strict=True)
    )
    return span_of_time(least, most) if (timezone.now() - begun).total_seconds() < most else ""


def pages_under_way(rows: RunRows) -> list[dict[str, str]]:
    """Return the pages opened last, the newest first, until there are quotes to show."""
    if rows.run.ended or rows.evidence:
        return []
    opened = rows.run.journal.filter(kind="fetch").exclude(status="failed").order_by("-pk")
    urls = [asked["url"] for asked in opened.values_list("request", flat=True)[:PAGES_NAMED]]
    return [{"url": url, "text": words.readable_url(url)} for url in urls]


def describe_score(payload: Progress) -> str:
    """Return the score and from which one on research can stop, or why it goes on from there."""
    quality = payload.quality
    needed = {
        gap.aspect or gap.id for gap in payload.gaps if gap.critical and gap.closed_round is None
    }
    if needed and quality.score is not None and quality.score >= quality.threshold:
        return ngettext(
            "rated %(score)s of 10: score reached, but %(n)s required sub-question is still open",
            "rated %(score)s of 10: score reached, but %(n)s required sub-questions are still open",
            len(needed),
        ) % {"score": words.format_score(quality.score), "n": words.format_number(len(needed))}
    return gettext("rated %(score)s of 10; research can stop at %(goal)s") % {
        "score": words.format_score(payload.quality.score),
        "goal": words.format_score(payload.quality.threshold),
    }


def describe_position(now: Progress) -> str:
    """Return how far a run is: "round 2 of up to 5"; in the fixed mode its level and queries."""
    level = now.level
    if level is None:
        numbers = {"n": now.run.round, "most": now.run.rounds_at_most}
        return gettext("round %(n)s of up to %(most)s") % numbers
    numbers = {"n": level.depth, "total": level.depth_total}
    if not level.breadth_total:
        return gettext("level %(n)s of %(total)s") % numbers
    numbers |= {"done": level.breadth_done, "queries": level.breadth_total}
    return gettext("level %(n)s of %(total)s, %(done)s of %(queries)s queries done") % numbers


def desk_key(row: Run, run: dict[str, Any]) -> str:
    """Return a key that changes whenever the forms offered to viewers change."""
    flags = [name for name in ("ended", *STEERING) if run[name]]
    asked = f"{row.status} {row.plan}" if run["asks"] else ""
    return "-".join([*flags, f"{crc32(asked.encode()):08x}"])


def steering_of(key: str) -> set[str]:
    """Return which parts of the steering area a desk with this key has."""
    return {name for name in STEERING if name in key}


def controls_context(run: dict[str, Any]) -> dict[str, Any]:
    """Return which buttons are offered; everyone who may see a run gets the same ones. `hint` says
    what the one that ends a stage does.
    """
    hint = next((str(hint) for name, hint in HINTS.items() if run[name] and run["live"]), "")
    return {"hint": hint, **{name: run[name] for name in ("has_begun", *BUTTONS)}}


def action_context(rows: RunRows) -> dict[str, Any]:
    """Return the current action of the run, its start time, and whether it is the last one before
    a pause.
    """
    part = rows.progress.action
    if part is not None:
        said = worded(part.text)
        is_said = said == str(words.STATUS[Status(rows.run.status)].word)
        return {
            "text": _describe_material(rows) if is_said else said,
            "since": part.since,
            "is_pausing": is_pausing(rows.run.status, rows.told),
        }
    queued = why_waiting(rows.run)
    text = waiting_sentence(queued) if queued else str(state_of(rows.run, rows.told, None).word)
    return {"text": text, "since": rows.run.created_at, "queued": queued is not None}


def _describe_material(rows: RunRows) -> str:
    """Return what the report is written from, where the steps say already that it is; before
    anything was read, what the question is prepared for.
    """
    found = rows.progress.evidence
    if rows.run.status == Status.INTAKE:
        return gettext("Splitting the question into sub-questions")
    return gettext("From %(claims)s and %(pages)s") % {
        "claims": words.count_noun(found.count, "claim"),
        "pages": words.count_noun(sum(row.pages_read for row in rows.rounds), "page"),
    }


def waiting_sentence(queued: Waiting) -> str:
    """Return what a queued run waits for."""
    if queued.files:
        return gettext("Reading your documents: %(n)s of %(total)s") % {
            "n": words.format_number(queued.read),
            "total": words.format_number(queued.files),
        }
    if queued.ahead:
        return ngettext("%(n)s run ahead of yours", "%(n)s runs ahead of yours", queued.ahead) % {
            "n": words.format_number(queued.ahead)
        }
    return gettext("Next in line")


def draft_sentences(sentences: Sequence[DraftedPart]) -> list[dict[str, Any]]:
    """Return the drafted sentences. The first one about each sub-question carries its name."""
    named = ["", *(said.about for said in sentences)]
    return [
        {"id": str(number), "text": said.text, "about": said.about if said.about != before else ""}
        for number, (before, said) in enumerate(zip(named, sentences, strict=False), 1)
    ]


def failure_context(rows: RunRows) -> dict[str, Any]:
    """Return what went wrong in a failed run, what to do, and the messages behind it.

    `model` tells whether the model was at fault, so that its server should be checked, `documents`
    whether those of the run are gone, so that trying again would fail as well.
    """
    if rows.run.status != Status.FAILED:
        return {"failed": False}
    ended = rows.run.termination_text or ""
    cause = "documents" if ended.startswith(GONE) else _find_cause(rows.problems)
    told = [ended, *(row.message for row in rows.problems)]
    return {
        "failed": True,
        "title": str(FAILURES[cause][0]),
        "advice": str(FAILURES[cause][1]),
        "model": cause == "model",
        "documents": cause == "documents",
        "details": list(dict.fromkeys(map(worded, filter(None, told)))),
    }


def _find_cause(problems: Sequence[Problem]) -> str:
    """Return what made a run fail, of `FAILURES`."""
    if any(row.message == EARLIER_FORM for row in problems):
        return "earlier"
    if any(row.where.startswith("model") for row in problems):
        return "model"
    if any(row.message.startswith(NO_SEARCH) for row in problems):
        return "search"
    return "pages" if any(row.where.startswith("round") for row in problems) else "itself"


def visible_problems(rows: RunRows) -> Sequence[Problem]:
    """Return the problems of a run; rejected topics and instructions are notices until it ends."""
    run = rows.run
    if run.status == Status.FAILED:
        return []
    return [row for row in rows.problems if run.ended or not is_refused_wish(row)]


def answer_context(rows: RunRows, written: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a finished run, and what is uncertain about it."""
    if not written:
        return {"answer": "", "is_bare": False}
    by_code = not rows.judged_by_model
    parts = [describe_uncertainty(rows.progress.aspects, by_code, rows.voice_noun)]
    if by_code and rows.trust not in {Trust.RELATED, Trust.NOT_ANSWERED}:
        parts.append(str(NO_MODEL))
    cited = dict.fromkeys(entry["url"] for entry in rows.report.citations) if rows.report else {}
    is_bare = not (cited or any(parts) or "<ul" in written["answer"])
    sites = _cited_sites(rows, [*cited])
    return {
        "answer": written["answer"],
        "is_bare": is_bare,
        "uncertain": " ".join(filter(None, parts)),
        "sites": sites[:SITES_SHOWN],
        "more_sites": len(sites[SITES_SHOWN:]),
        "sources": written["sources"],
    }


def _cited_sites(rows: RunRows, cited: Sequence[str]) -> list[words.Site]:
    """Return the sites of cited pages, those with most pages first. Documents stand under their
    collection with their number, unless they are few or the report is shared.
    """
    in_collections = len(cited) > SITES_SHOWN and not is_shared()
    titles = {row.url: row.title for quotes in rows.cited.values() for row in quotes}
    named: dict[str, words.Site] = {}
    counts = Counter[str]()
    for url in cited:
        origin = work_of(url)
        is_document = in_collections and is_collection(origin)
        place = origin if is_document else words.short_place(url)
        counts[place] += 1
        told = words.count_noun(counts[place], "document")
        named[place] = (
            words.Site(f"{words.site_of_documents(url).name} · {told}")
            if is_document
            else words.site_of(url, rows.site_names.get(url), titles.get(url, ""))
        )
    return [named[place] for place, _ in counts.most_common()]


def outcome_context(rows: RunRows, written: dict[str, Any]) -> dict[str, Any]:
    """Return the report of an ended run, or the queries tried if it found nothing."""
    if not rows.run.ended:
        return {"ended": False}
    completed = rows.run.status == Status.COMPLETED
    searches = [] if written or not completed else searches_tried(rows.units)
    return {
        "ended": True,
        "completed": completed,
        "report": written,
        "searches": searches,
        "question": rows.run.question,
    }


def run_footer(run: Run) -> list[str]:
    """Return the analyst and the resources used."""
    usage = run.usage
    parts = [analyst_label(run.analyst)]
    if usage:
        parts.append(words.format_seconds(usage.get("seconds", 0)))
        parts.append(words.count_noun(usage.get("searches", 0), "search"))
        fetched = usage.get("fetches", 0)
        parts.append(
            ngettext("%(n)s page fetched", "%(n)s pages fetched", fetched)
            % {"n": words.format_number(fetched)}
        )
    if usage.get("llm_calls"):
        parts.append(words.count_noun(usage["llm_calls"], "model call"))
        cost = usage.get("cost_usd")
        is_local = cost is None and is_model_local(run.analyst)
        parts.append(describe_price(cost, is_local=is_local))
    return parts


def analyst_label(name: str) -> str:
    return gettext("no model, passages quoted") if name == "extractive" else name
