"""The oracle: the best possible model that knows nothing but its prompt.

It parses the labelled sections, recognizes facts by their wording, and asks for what the question
and the known facts require. Instructions are ignored, so rewording them changes nothing. Pure
functions; the server is in `model.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from bench.world.envelope import Envelope, Line
from bench.world.grammar import Statement, calls, parse
from bench.world.verifying import verdicts
from bench.world.wants import Needs, Want, needs

Answer = dict[str, Any]
Schema = Mapping[str, Any]
SHORT_ANSWER_WORDS = 70
TREE_BREADTH = 4
TOLD = ("FINDINGS", "LEARNINGS", "EVIDENCE", "CONTEXT")
TOPICS = ("TOPIC OF THIS READING", "TOPIC", "GOAL", "FOLLOW-UPS", "FOLLOW-UP QUESTIONS")


def answer(task: str, prompt: str, schema: Schema | None = None) -> Answer:
    """Answer one task; an unknown task is identified by its sections."""
    envelope = Envelope.of(prompt)
    return TASKS.get(task, TASKS[guessed(envelope)])(envelope, schema or {})


def guessed(envelope: Envelope) -> str:
    """Return the task of a request without a name, from the sections that only it has."""
    known = {"PAGES": "read", "FINDINGS": "assess", "STATEMENTS TO PUT RIGHT": "repair"}
    known |= {"EVIDENCE": "draft", "STATEMENTS": "verify"}
    return next((task for label, task in known.items() if label in envelope.sections), "intake")


# --- intake ---------------------------------------------------------------------------------


def intake(envelope: Envelope, schema: Schema) -> Answer:
    wants = needs([envelope.question], ()).wants
    line = any(want.call.line for want in wants)
    planned = {
        "complexity": "complex" if line else "ordinary" if len(wants) > 1 else "simple",
        "language": "en",
        "brief": "",
        "sub_questions": [want.text for want in wants] or [envelope.question],
        "queries": [want.query() for want in wants] or [envelope.question],
    }
    asked = {
        "clarifying_questions": [],
        "scope": "What the question names, and what its answers name in turn.",
        "evidence_strategy": "Sentences that state the fact, from more than one site.",
        "output_format": "A sentence for each fact.",
    }
    named = schema.get("properties", asked)
    return planned | {key: value for key, value in asked.items() if key in named}


def follow_up(envelope: Envelope, schema: Schema) -> Answer:
    """Report the same topic if both turns ask about the same subject."""
    before = {call.subject for call in calls(envelope.text("EARLIER QUESTION"))}
    asked = {call.subject for call in calls(envelope.question)}
    return {"same_topic": bool(before & asked), "question": envelope.question}


# --- read -----------------------------------------------------------------------------------


def read(envelope: Envelope, schema: Schema) -> Answer:
    lines, found = _facts_of_pages(envelope)
    subs = envelope.lines("SUB-QUESTIONS")
    sentences: dict[tuple[str, str], list[int]] = {}
    for line in lines:
        if line.statement:
            place = (line.statement.claim(), _sub_question(subs, line.statement))
            sentences.setdefault(place, []).append(int(line.id))
    findings = [
        {"claim": claim, "sentences": at, "sub_question": sub}
        for (claim, sub), at in sentences.items()
    ]
    return {"findings": findings, "leads": _leads(lines, found)}


def _facts_of_pages(envelope: Envelope) -> tuple[list[Line], Needs]:
    """Return the lines with relevant facts, each fact once per occurrence."""
    lines = [line for line in envelope.lines("PAGES") if line.statement]
    stated = [line.statement for line in lines if line.statement]
    subs = [line.text for line in envelope.lines("SUB-QUESTIONS")]
    topics = [envelope.text(label) for label in TOPICS]
    known = [*envelope.told(*TOLD), *stated]
    found = needs([envelope.question, *subs, *topics], known)
    wanted = set(found.relevant)
    return [line for line in lines if line.statement in wanted], found


def _sub_question(subs: Sequence[Line], statement: Statement) -> str:
    """Return the sub-question that asks for this; else one on the same relation; else the first."""
    exact = [sub.id for sub in subs if _asks(sub, statement.subject, statement.attribute)]
    alike = [sub.id for sub in subs if any(c.attribute == statement.attribute
                                           for c in calls(sub.text))]  # fmt: skip
    return next(iter([*exact, *alike, *(sub.id for sub in subs)]), "")


def _asks(sub: Line, subject: str, attribute: str) -> bool:
    return any((c.subject, c.attribute) == (subject, attribute) for c in calls(sub.text))


def _leads(lines: Sequence[Line], found: Needs) -> list[Answer]:
    """Return names that a sentence introduces and these pages don't explain."""
    leads = []
    open_names = {want.call.subject: want for want in found.wants if want.raised}
    for line in lines:
        want = open_names.pop(line.statement.other, None) if line.statement else None
        if want:
            leads.append(
                {"topic": want.call.subject, "query": want.query(), "sentence": int(line.id)}
            )
    return leads


# --- assess ---------------------------------------------------------------------------------


def assess(envelope: Envelope, schema: Schema) -> Answer:
    subs, findings = envelope.lines("SUB-QUESTIONS"), envelope.lines("FINDINGS")
    known = [line.statement for line in findings if line.statement]
    found = needs([envelope.question], known)
    searched, gaps = envelope.items("ALREADY SEARCHED"), envelope.lines("OPEN GAPS")
    several = [line for line in findings if not re.search(r"; [01] independent", line.note)]
    disputed = "SOURCES DISAGREE" in envelope.sections
    reliability = _mark(len(several) / len(findings) if findings else 0.0) - disputed
    whole = _mark(found.share)
    return {
        "dimensions": {
            "completeness": whole,
            "depth": whole,
            "reliability": max(1, reliability),
            "actionability": whole,
        },
        "overall": whole,
        "reasoning": f"{found.met} of {found.met + len(found.wants)} things asked for are found.",
        "unanswered": [sub.id for sub in subs if not _answered(sub, known)],
        "gaps": [_gap(want, subs, searched, gaps) for want in found.wants],
        "directions": [],
        "ready": found.met > 0 and not found.wants,
    }


def _mark(share: float) -> int:
    return round(1 + 9 * share)


def _answered(sub: Line, known: Sequence[Statement]) -> bool:
    asked = needs([sub.text], known)
    return asked.met > 0 and not asked.wants


def _gap(want: Want, subs: Sequence[Line], searched: Sequence[str], gaps: Sequence[Line]) -> Answer:
    """Return a gap, assigned to the sub-question that asks for it, if any.

    An open gap keeps its id.
    """
    own = [sub.id for sub in subs if _asks(sub, want.call.subject, want.call.attribute)]
    return {
        "id": next((gap.id for gap in gaps if gap.text == want.text), ""),
        "text": want.text,
        "sub_question": own[0] if own else "",
        "query": want.query(searched),
        "critical": True,
    }


def helped(subs: Sequence[Line], text: str) -> str:
    """Return the sub-question on the same relation as this text; else the first."""
    asked = {call.attribute for call in calls(text)}
    alike = [sub.id for sub in subs if asked & {call.attribute for call in calls(sub.text)}]
    return next(iter([*alike, *(sub.id for sub in subs)]), "")


# --- report ---------------------------------------------------------------------------------


def draft(envelope: Envelope, schema: Schema) -> Answer:
    evidence = envelope.lines("EVIDENCE")
    claims = {line.id: line.text for line in evidence}
    quotes = _quotes(envelope)
    sections: dict[str, dict[str, list[str]]] = {
        sub.id: {} for sub in envelope.lines("SUB-QUESTIONS")
    }
    for line in evidence:
        text = _sentence(line, quotes.get(line.id, []))
        sections.setdefault(line.note.strip(), {}).setdefault(text, []).append(line.id)
    stated = [each for statements in sections.values() for each in statements.items()]
    said = [
        (sub, ids[0] if [claims[i] for i in ids] == [text] else f"{text} [{', '.join(ids)}]")
        for sub, statements in sections.items()
        for text, ids in statements.items()
    ]
    short = _short([text for text, _ in stated])
    return {**stated_in(said, schema), "short_answer": short}


def stated_in(said: Sequence[tuple[str, str]], schema: Schema) -> Answer:
    """Return sentences, each with its sub-question and those of one together, in a section for each
    sub-question where a draft is asked for sections.
    """
    if "sections" not in schema.get("properties", {}):
        return {"statements": [text for _, text in said]}
    by_sub = groupby(said, key=lambda each: each[0])
    parts = ((sub, [text for _, text in part]) for sub, part in by_sub)
    return {"sections": [{"on": [sub], "statements": texts} for sub, texts in parts]}


def _sentence(line: Line, quotes: Sequence[str]) -> str:
    """Return the fact of a record in plain words; the claim itself if there is none."""
    stated = [line.statement, *(parse(quote) for quote in quotes)]
    return next((s.claim() for s in stated if s), line.text)


def _quotes(envelope: Envelope) -> dict[str, list[str]]:
    """Return the quotes of each evidence record."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in envelope.text("EVIDENCE").splitlines():
        if head := re.match(r"\[(\w+)\] ", line):
            current = head.group(1)
        elif quote := re.match(r'\s+"(.*)" \(', line):
            found.setdefault(current, []).append(quote.group(1))
    return found


def _short(statements: Sequence[str]) -> list[str]:
    """Return the numbers of the first statements that fit into the short answer."""
    kept: list[str] = []
    room = SHORT_ANSWER_WORDS
    for number, text in enumerate(statements, 1):
        room -= len(text.split())
        if room < 0 and kept:
            break
        kept.append(str(number))
    return kept


def summary(envelope: Envelope, schema: Schema) -> Answer:
    """Return the first statement on each sub-question."""
    first: dict[str, Line] = {}
    for line in envelope.lines("CHECKED STATEMENTS"):
        first.setdefault(line.note, line)
    return {"sentences": [f"{line.text} [{line.id}]" for line in first.values()]}


def repair(envelope: Envelope, schema: Schema) -> Answer:
    """Replace each faulty statement by the claim of its first evidence, or drop it."""
    quotes = _quotes(envelope)
    claims = {e.id: _sentence(e, quotes.get(e.id, [])) for e in envelope.lines("EVIDENCE")}
    mended = []
    for line in envelope.lines("STATEMENTS TO PUT RIGHT"):
        cited = [i for i in re.findall(r"E\d+", line.text.rpartition("(cites")[2]) if i in claims]
        if cited:
            mended.append({"number": int(line.id), "text": claims[cited[0]], "evidence": cited[:1]})
    return {"statements": mended}


def verify(envelope: Envelope, schema: Schema) -> Answer:
    return verdicts(envelope.sections.get("STATEMENTS", ""))


# --- fixed mode -----------------------------------------------------------------------------


def tree_queries(envelope: Envelope, schema: Schema) -> Answer:
    """Return queries for open items; `# NUMBER OF QUERIES` or the schema limits their number."""
    topics = [text for label in TOPICS if (text := envelope.text(label))]
    known = envelope.told(*TOLD)
    open_wants = [
        *(needs(topics, known).wants if topics else []),
        *needs([envelope.question], known).wants,
    ]
    asked = open_wants or [Want(c, True, c.authority, False) for c in calls(envelope.question)]
    used = [*envelope.items("ALREADY SEARCHED")]
    queries: list[Answer] = []
    for turn in range(_breadth(envelope, schema)):
        want = asked[turn % len(asked)] if asked else None
        query = want.query(used) if want else envelope.question
        queries.append({"query": query, "goal": want.text if want else envelope.question})
        used.append(query)
    return {"queries": queries}


def _breadth(envelope: Envelope, schema: Schema) -> int:
    named = re.search(r"\d+", envelope.text("NUMBER OF QUERIES"))
    if named:
        return min(20, int(named.group()))
    limits = schema.get("properties", {}).get("queries", {})
    return int(limits.get("maxItems") or limits.get("minItems") or TREE_BREADTH)


def tree_extract(envelope: Envelope, schema: Schema) -> Answer:
    lines, found = _facts_of_pages(envelope)
    sentences: dict[str, list[int]] = {}
    for line in lines:
        if line.statement:
            sentences.setdefault(line.statement.claim(), []).append(int(line.id))
    follow_ups = [*(w for w in found.wants if w.raised), *(w for w in found.wants if not w.raised)]
    return {
        "learnings": [{"text": text, "sentences": at} for text, at in sentences.items()],
        "follow_ups": list(dict.fromkeys(want.text for want in follow_ups)),
    }


# --- the bare loop --------------------------------------------------------------------------


def bare_plan(envelope: Envelope, schema: Schema) -> Answer:
    wants = needs([envelope.question], ()).wants
    return {"queries": [want.query() for want in wants] or [envelope.question]}


def bare_read(envelope: Envelope, schema: Schema) -> Answer:
    lines, found = _facts_of_pages(envelope)
    claims = [line.statement.claim() for line in lines if line.statement]
    searched = envelope.items("ALREADY SEARCHED")
    return {
        "findings": list(dict.fromkeys(claims)),
        "queries": list(dict.fromkeys(want.query(searched) for want in found.wants)),
    }


def bare_report(envelope: Envelope, schema: Schema) -> Answer:
    return {"report": " ".join(s.claim() for s in envelope.told("FINDINGS"))}


TASKS: dict[str, Callable[[Envelope, Schema], Answer]] = {
    "intake": intake,
    "follow_up": follow_up,
    "read": read,
    "assess": assess,
    "draft": draft,
    "section": draft,
    "summary": summary,
    "repair": repair,
    "verify": verify,
    "tree_queries": tree_queries,
    "tree_extract": tree_extract,
    "bare_plan": bare_plan,
    "bare_read": bare_read,
    "bare_report": bare_report,
}
