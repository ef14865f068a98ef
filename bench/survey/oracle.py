"""The survey's oracle: the best possible model that knows nothing but its prompt.

It recognizes planted sentences where a prompt shows them, and repeats them word for word. It plans
by the wording of the question, follows the wanted length, gives the newest of several values
and puts disputed statements side by side.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.plain_bm25 import plain_words
from bench.survey.make_survey import words_of
from bench.survey.measure import Fact, normalise
from bench.world.envelope import Envelope, Line
from bench.world.model import count_tokens
from bench.world.oracle import stated_in
from bench.world.verifying import is_carried, verdicts
from research.engine import ModelAnswer, ModelRequest
from research.engine.journal.forms import Form
from research.engine.offline.questions.question import asks_for_course
from research.engine.report.parts.dating import asks_for_changes
from research.engine.text.tokens import term_set

Answer = dict[str, Any]
Row = Mapping[str, Any]
LONGEST_NAME = 6
ENOUGH = 6
"""Findings on a sub-question with which the oracle is content."""
TAILS = ("official report figures", "news history", "study measurement review", "overview notes")
MOST_NAMES, SUBJECT_WORDS = 6, 3
QUANTITIES = frozenset({"quantity", "share", "cost"})
_COUNTED = re.compile(r"The (.+?) was ")
_LOOKS_BACK = re.compile(r"\b(?:an|the) earlier\b|\bbefore and after\b")
_CLAUSE = re.compile(r"\s+(?:and|or)\s+(?=(?:why|how|what|who|which|where|when|in|sells?)\b)")
_NAME = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_NAMES = re.compile(rf"{_NAME.pattern}(?:, {_NAME.pattern})+,? (?:and|or) {_NAME.pattern}")
_QUESTION_START = re.compile(r"(?:^|(?<=[.?!:]))\s*[A-Z][a-z]*")
_ON_THE_REPORT = re.compile(r"(?:please )?(?:mark|say|use|note|put|where|if)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:and|or|also|please|then|i|am|want to know|would like|need|interested in|in|tell me|"
    r"cover|compare|survey|trace|explain|describe|give|show|set out|the)\b|[,;:])\s*",
    re.IGNORECASE,
)
_HOW_TO_REPORT = re.compile(
    r"\b(?:outdated|disagree\w*|contradict\w*|differ|nothing (?:is|has)|not agree|(?:a|one) table"
    r"|tell me if)\b",
    re.IGNORECASE,
)


class SurveyOracle:
    """A model for the engine; one for each question."""

    name = "survey-oracle"

    def __init__(self, question: Row, facts: Sequence[Row], pages: Sequence[Row]) -> None:
        self._facts = {row["id"]: row for row in facts}
        self._aspects = {
            row["id"]: term_set(f"{row['name']} {row['question']}") for row in question["aspects"]
        }
        self._cells = {
            (entity, name): cell["fact"]
            for entity, line in question["cells"].items()
            for name, cell in line.items()
            if cell
        }
        self._properties = {
            name: self._aspects[self._facts[fact]["aspect"]]
            for (_, name), fact in self._cells.items()
        }
        self._names_matters = False
        self._schema: Mapping[str, Any] = {}
        self._said: dict[str, str] = {}
        for page in pages:
            for told in page["facts"]:
                self._said[_plain(told["sentence"])] = told["id"]

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        envelope = Envelope.of(request.prompt)
        self._names_matters = "what they disagree on" in request.system
        self._schema = request.schema
        tasks: dict[str, Callable[[Envelope], Answer]] = {
            "intake": self.intake,
            "read": self.read,
            "assess": self.assess,
            "compare": self.compare,
            "draft": self.draft,
            "section": self.draft,
            "summary": self.summary,
            "repair": self.repair,
            "verify": self.verify,
        }
        text = json.dumps(tasks[request.task](envelope))
        asked = count_tokens(request.system) + count_tokens(request.prompt)
        return ModelAnswer(text, self.name, asked, count_tokens(text), cost_usd=0.0)

    def intake(self, envelope: Envelope) -> Answer:
        parts = parts_of(envelope.question)
        subject = subject_of(envelope.question)
        return {
            "complexity": "complex",
            "language": "en",
            "brief": "",
            "sub_questions": parts,
            "queries": [_query(subject, part) for part in parts],
        }

    def read(self, envelope: Envelope) -> Answer:
        subs = envelope.lines("SUB-QUESTIONS")
        found: dict[str, list[Line]] = defaultdict(list)
        for line in envelope.lines("PAGES"):
            if fact := self._said.get(_plain(line.text)):
                found[fact].append(line)
        findings = [
            {
                "claim": lines[0].text,
                "sentences": [int(line.id) for line in lines],
                "sub_question": self._nearest(fact, subs),
            }
            for fact, lines in found.items()
        ]
        return {"findings": findings, "leads": []}

    def _nearest(self, fact: str, subs: Sequence[Line]) -> str:
        """Return the sub-question that shares most words with what the fact is about, and says."""
        row = self._facts[fact]
        about, said = self._aspects[row["aspect"]], term_set(row["statement"])
        shared = {}
        for sub in subs:
            asked = term_set(sub.text)
            shared[sub.id] = 3 * len(about & asked) + len(said & asked)
        return max(shared, key=shared.__getitem__)

    def assess(self, envelope: Envelope) -> Answer:
        subs, findings = envelope.lines("SUB-QUESTIONS"), envelope.lines("FINDINGS")
        counts = {s.id: sum(f.note.startswith(f"{s.id};") for f in findings) for s in subs}
        thin = [sub for sub in subs if counts[sub.id] < ENOUGH]
        mark = round(1 + 9 * sum(min(1, counts[s.id] / ENOUGH) for s in subs) / len(subs))
        searched = {" ".join(query.split()) for query in envelope.items("ALREADY SEARCHED")}
        told = {s.id: [f.text for f in findings if f.note.startswith(f"{s.id};")] for s in subs}
        gaps = {gap.text: gap.id for gap in envelope.lines("OPEN GAPS")}
        subject = " ".join(plain_words(subject_of(envelope.question))[:4])
        return {
            "dimensions": {
                "completeness": mark, "depth": mark, "reliability": 8, "actionability": mark,
            },
            "overall": mark,
            "reasoning": f"{len(thin)} of {len(subs)} parts are thin.",
            "unanswered": [sub.id for sub in subs if not counts[sub.id]],
            "gaps": [
                {
                    "id": gaps.get(f"More on: {sub.text}", ""),
                    "text": f"More on: {sub.text}",
                    "sub_question": sub.id,
                    "query": next(
                        (way for way in _ways(subject, sub, told[sub.id]) if way not in searched),
                        f"{subject} {sub.text}",
                    ),
                    "critical": not counts[sub.id],
                }
                for sub in thin
            ],
            "directions": [
                next((way for way in _ways(subject, sub, told[sub.id]) if way not in searched), "")
                for sub in subs if sub not in thin
            ],
            "ready": not thin,
        }  # fmt: skip

    # --- the bare loop ---

    def bare(self, task: str, prompt: str) -> Answer:
        """Answer a task of the bare loop."""
        envelope = Envelope.of(prompt)
        subs = [Line(f"A{n}", "", part) for n, part in enumerate(parts_of(envelope.question), 1)]
        subject = subject_of(envelope.question)
        if task == "bare_plan":
            return {"queries": [_query(subject, sub.text) for sub in subs]}
        if task == "bare_report":
            return {"report": " ".join(envelope.items("FINDINGS"))}
        found: dict[str, str] = {}
        for line in envelope.lines("PAGES"):
            if fact := self._said.get(_plain(line.text)):
                found.setdefault(fact, line.text)
        told: dict[str, list[str]] = defaultdict(list)
        for fact, text in found.items():
            told[self._nearest(fact, subs)].append(text)
        searched = {" ".join(query.split()) for query in envelope.items("ALREADY SEARCHED")}
        words = " ".join(plain_words(subject)[:4])
        ways = (
            next((way for way in _ways(words, sub, told[sub.id]) if way not in searched), "")
            for sub in subs
        )
        return {"findings": list(found.values()), "queries": [way for way in ways if way]}

    # --- report ---

    def compare(self, envelope: Envelope) -> Answer:
        """Relate the facts that the findings show; name properties as the survey does."""
        by_fact: dict[str, list[Line]] = defaultdict(list)
        for line in envelope.lines("FINDINGS"):
            if fact := self._said.get(_plain(line.text)):
                by_fact[fact].append(line)

        entities, properties = self._named(envelope.question), self._asked(envelope.question)
        cells = self._table(by_fact, entities, properties)
        compared = len(entities) > 1
        return {
            "newer": self._pairs(by_fact, "superseded_by"),
            "disagree": self._disputes(by_fact),
            "earlier": list(self._recalled(envelope.lines("FINDINGS"))),
            "entities": entities if compared else [],
            "properties": properties if compared else [],
            "cells": cells if compared else [],
            "figures": list(self._figures(by_fact)),
            "changes": list(self._changes(by_fact, envelope.lines("FINDINGS")))
            if asks_for_changes(envelope.question) or _LOOKS_BACK.search(envelope.question)
            else [],
        }

    def _asked(self, question: str) -> list[str]:
        asked = term_set(" ".join(parts_of(question)))
        return [n for n, about in self._properties.items() if (term_set(n) | about) & asked]

    def _table(
        self,
        by_fact: Mapping[str, Sequence[Line]],
        entities: Sequence[str],
        properties: Sequence[str],
    ) -> list[Answer]:
        cells = []
        for (entity, name), fact in self._cells.items():
            lines = by_fact.get(fact, ()) if name in properties and entity in entities else []
            if lines:
                value = self._facts[fact]["values"][0]
                spoken = value if _plain(value) in _plain(lines[0].text) else _in_words(value)
                ids = [line.id for line in lines]
                cells.append({"entity": entity, "property": name, "value": spoken, "evidence": ids})
        return cells

    def _named(self, question: str) -> list[str]:
        """Return the things of the survey's table that a question names, in their order there."""
        things = dict.fromkeys(entity for entity, _ in self._cells)
        named = [thing for thing in things if re.search(rf"\b{re.escape(thing)}\b", question)]
        return sorted(named, key=question.index)

    def _recalled(self, lines: Iterable[Line]) -> Iterator[Answer]:
        """Yield the outdated values in findings that give the newer one as well."""
        for fact in self._facts.values():
            newer = self._facts.get(fact["superseded_by"] or "")
            if newer is None:
                continue
            was, now = Fact(fact), Fact(newer)
            for line in lines:
                plain = normalise(line.text)
                if was.shown(plain) and now.shown(plain):
                    yield {"finding": line.id, "value": fact["values"][0]}

    def _changes(
        self, by_fact: Mapping[str, Sequence[Line]], lines: Sequence[Line]
    ) -> Iterator[Answer]:
        """Yield the outdated values beside the newer ones, as far as findings give both."""
        for name, fact in self._facts.items():
            newer = self._facts.get(fact["superseded_by"] or "")
            if newer is None:
                continue
            both = [
                line
                for line in lines
                if all(Fact(each).shown(normalise(line.text)) for each in (fact, newer))
            ]
            old, new = by_fact.get(name) or both, by_fact.get(newer["id"]) or both
            if old and new and fact["values"] and newer["values"]:
                counted = _COUNTED.match(newer["statement"])
                yield {
                    "what": counted[1] if counted else _shared(fact, newer),
                    "before": _value_in(fact, old[0]),
                    "now": _value_in(newer, new[0]),
                    "since": "",
                    "old": [line.id for line in old],
                    "new": [line.id for line in new],
                }

    def _pairs(self, by_fact: Mapping[str, Sequence[Line]], key: str) -> list[list[str]]:
        return [
            [line.id, other.id]
            for fact, lines in by_fact.items()
            for other in by_fact.get(self._facts[fact][key] or "", ())[:1]
            for line in lines
        ]

    def _disputes(self, by_fact: Mapping[str, Sequence[Line]]) -> list[list[str]]:
        """Return the disputed pairs, each with the words that both have if a prompt asks for it."""
        text = {line.id: line.text for lines in by_fact.values() for line in lines}
        pairs = self._pairs(by_fact, "disputed_with")
        if not self._names_matters:
            return pairs
        return [[one, other, _common_words(text[one], text[other])] for one, other in pairs]

    def _figures(self, by_fact: Mapping[str, Sequence[Line]]) -> Iterator[Answer]:
        """Yield the current quantities in the findings, the best supported first."""
        for fact in sorted(by_fact, key=lambda fact: -len(by_fact[fact])):
            row, lines = self._facts[fact], by_fact[fact]
            counted = _COUNTED.match(row["statement"])
            value = next((v for v in row["values"] if _plain(v) in lines[0].text), "")
            if counted and value and row["kind"] in QUANTITIES and not row["superseded_by"]:
                ids = [line.id for line in lines]
                yield {"name": counted[1], "value": value, "evidence": ids}

    def draft(self, envelope: Envelope) -> Answer:
        stated = self._in_order(envelope, self._statements(envelope))
        order = [sub.id for sub in envelope.lines("SUB-QUESTIONS")]
        stated.sort(key=lambda each: order.index(each[0]) if each[0] in order else len(order))
        first = {about: number for number, (about, _) in reversed([*enumerate(stated, 1)])}
        by_fact: dict[str, list[Line]] = defaultdict(list)
        for line in envelope.lines("EVIDENCE"):
            if fact := self._said.get(_plain(line.text)):
                by_fact[fact].append(line)
        question = envelope.question
        cells = self._table(by_fact, self._named(question), self._asked(question))
        return {
            "cells": cells if envelope.text("THINGS COMPARED") else [],
            **stated_in(stated, self._schema),
            "short_answer": self._short_answer(envelope, stated, first),
            "newer": self._pairs(by_fact, "superseded_by"),
            "disagree": self._disputes(by_fact),
            "open": _left_open(envelope, "EVIDENCE"),
        }

    def _short_answer(
        self, envelope: Envelope, stated: Sequence[tuple[str, str]], first: Mapping[str, int]
    ) -> list[str]:
        """Return the numbers of the first statements on each sub-question."""
        return [str(number) for number in sorted(first.values())]

    def _in_order(
        self, envelope: Envelope, told: Sequence[tuple[str, str, str]]
    ) -> list[tuple[str, str]]:
        """Return sub-questions and sentences; the events of one on their course are items with
        their dates, in the order of these, behind its other sentences.
        """
        texts = {sub.id: sub.text for sub in envelope.lines("SUB-QUESTIONS")}
        course = {part for part, text in texts.items() if asks_for_course(text, Form.EDITED)}
        events = [
            (self._facts[fact]["as_of"], about, f"- {self._facts[fact]['values'][0]}: {text}")
            for about, text, fact in told
            if about in course and self._facts[fact]["kind"] == "event"
        ]
        others = [
            (about, text)
            for about, text, fact in told
            if about not in course or self._facts[fact]["kind"] != "event"
        ]
        return others + [(about, text) for _, about, text in sorted(events)]

    def _statements(self, envelope: Envelope) -> list[tuple[str, str, str]]:
        """Sub-question, sentence and id of each fact, as many as the wanted length has room for, in
        turns over the sub-questions; those on which most sources agree first.
        """
        lines = {line.id: line for line in envelope.lines("EVIDENCE")}
        grouped: dict[str, list[str]] = defaultdict(list)
        for record in lines.values():
            fact = self._said.get(_plain(record.text))
            if fact:
                grouped[fact].append(record.id)
        current = [f for f in grouped if self._facts[f]["superseded_by"] not in grouped]
        by_sub: dict[str, list[str]] = defaultdict(list)
        for fact in sorted(self._with_rivals(current, grouped), key=lambda f: -len(grouped[f])):
            by_sub[lines[grouped[fact][0]].note].append(fact)
        told, room = [], wanted_words(envelope)
        for turn in range(max(map(len, by_sub.values()), default=0)):
            for about, facts in by_sub.items():
                for fact in facts[turn : turn + 1]:
                    text = self.worded(fact, [lines[each].text for each in grouped[fact]])
                    room -= len(text.split())
                    if room >= 0:
                        told.append((about, f"{text} [{', '.join(grouped[fact])}]", fact))
        return self._rivals_together(told)

    def worded(self, fact: str, shown: Sequence[str]) -> str:
        """Return the statement of a fact whose findings are `shown`: word for word the first."""
        return shown[0]

    def _with_rivals(self, facts: Iterable[str], known: Mapping[str, Any]) -> list[str]:
        return [fact for fact in facts if fact in known]

    def _rivals_together(self, told: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """Each statement with the one that contradicts it right behind."""
        by_fact = {fact: (about, text, fact) for about, text, fact in told}
        ordered: dict[str, tuple[str, str, str]] = {}
        for about, text, fact in told:
            ordered.setdefault(fact, (about, text, fact))
            rival = self._facts[fact]["disputed_with"]
            if rival in by_fact:
                ordered.setdefault(rival, (about, by_fact[rival][1], rival))
        return list(ordered.values())

    def summary(self, envelope: Envelope) -> Answer:
        """Return the first statement on each sub-question, and its rival if it has one."""
        first: dict[str, Line] = {}
        for line in envelope.lines("CHECKED STATEMENTS"):
            first.setdefault(line.note, line)
        return {
            "sentences": [f"{line.text} [{line.id}]" for line in first.values()],
            "open": _left_open(envelope, "CHECKED STATEMENTS"),
        }

    def repair(self, envelope: Envelope) -> Answer:
        claims = {line.id: line.text for line in envelope.lines("EVIDENCE")}
        mended = []
        for line in envelope.lines("STATEMENTS TO PUT RIGHT"):
            cited = [i for i in re.findall(r"E\d+", line.text) if i in claims][:1]
            if cited:
                mended.append({"number": int(line.id), "text": claims[cited[0]], "evidence": cited})
        return {"statements": mended}

    def verify(self, envelope: Envelope) -> Answer:
        carried, more = [], []
        for block in re.split(r"\n(?=\[\d+\] )", envelope.text("STATEMENTS")):
            head, *quotes = block.split("\n")
            number, _, said = head.removeprefix("[").partition("] ")
            held = any(_plain(_value_of(said)) in _plain(quote) for quote in quotes)
            (carried if held else more).append(int(number))
        return {"carried": carried, "more": more, "other": [], "faults": more}


def _value_of(said: str) -> str:
    """Return the value of a table's cell ("thing: property – value."); another statement whole."""
    found = re.fullmatch(r".+: .{1,60} – (.+)\.", said)
    return found[1] if found else said


class RewordingOracle(SurveyOracle):
    """An oracle whose statements say in other words what the findings say.

    The words are the plain statement of the fact, which is no page's. As verifier it knows both.
    """

    name = "survey-rewording-oracle"

    def worded(self, fact: str, shown: Sequence[str]) -> str:
        return self._facts[fact]["statement"]

    def _short_answer(
        self, envelope: Envelope, stated: Sequence[tuple[str, str]], first: Mapping[str, int]
    ) -> list[str]:
        """Return the first statement on each sub-question as a sentence of the short answer, as the
        prompt asks for them.
        """
        chosen = [stated[number - 1] for number in sorted(first.values())]
        return [f"{about}: {text}" for about, text in chosen]

    def verify(self, envelope: Envelope) -> Answer:
        stated = {_plain(row["statement"]): fact for fact, row in self._facts.items()}

        def judge(statement: str, quotes: Sequence[str]) -> bool:
            fact = stated.get(_plain(statement))
            if fact is None:
                value = _plain(_value_of(statement))
                is_cell = value != _plain(statement) and any(value in _plain(q) for q in quotes)
                return is_cell or is_carried(statement, quotes)
            return any(
                told == fact and said in _plain(quote)
                for quote in quotes
                for said, told in self._said.items()
            )

        return verdicts(envelope.text("STATEMENTS"), judge)


def _ways(subject: str, sub: Line, told: Sequence[str]) -> list[str]:
    """Further searches on a sub-question: what its findings are on, and other kinds of pages."""
    known = {*plain_words(subject), *plain_words(sub.text)}
    words = " ".join(word for word in plain_words(sub.text) if word not in plain_words(subject))
    held = Counter(word for text in told for word in plain_words(text) if word not in known)
    common = " ".join(word for word, _ in held.most_common(3))
    return [f"{words} {common}", *(f"{words} {tail}" for tail in TAILS)]


def _query(subject: str, part: str) -> str:
    """Return the names of the subject and what is asked of it."""
    known = plain_words(subject)
    names = plain_words(" ".join(re.findall(r"\b[A-Z]\w+", subject))) or known[:3]
    return " ".join([*names, *(word for word in plain_words(part) if word not in known)])


def _in_words(value: str) -> str:
    """Return a value with its leading number in words, as pages may write it."""
    number, _, unit = value.partition(" ")
    return f"{words_of(int(number))} {unit}" if number.isdecimal() and int(number) < 100 else value


def _plain(text: str) -> str:
    return " ".join(text.split()).strip()


def wanted_words(envelope: Envelope) -> int:
    """Return the longest length that the prompt wants; without one, as much as it likes."""
    numbers = re.findall(r"\d[\d,]*", envelope.text("WANTED LENGTH"))
    return max((int(number.replace(",", "")) for number in numbers), default=100_000)


def subject_of(question: str) -> str:
    """Return what a question is about: its names, or without any the words of its first clause."""
    named = _NAME.findall(_QUESTION_START.sub(" ", question))
    words = [word for name in dict.fromkeys(named) for word in name.split()]
    first = re.split(r"[:,.?;(]", _bare(question), maxsplit=1)[0]
    rest = [word for word in plain_words(first) if word not in plain_words(" ".join(words))]
    return " ".join([*words[:MOST_NAMES], *rest[:SUBJECT_WORDS]])


def parts_of(question: str) -> list[str]:
    """Return the sub-questions that the clauses and listed things of a question name.

    Clauses on how to report, such as on outdated figures, are no sub-questions.
    """
    subject, parts = subject_of(question), []
    things = {word for name in entities_of(question) for word in plain_words(name)}
    known = {*plain_words(subject), *things}
    for sentence in re.split(r"(?<=[.?!:;])\s+", re.sub(r"\([^)]*\)", "", question)):
        if _ON_THE_REPORT.match(sentence):
            continue
        for clause in _clauses(sentence):
            plain = _bare(clause).strip(" .,:;?!")
            if not set(plain_words(plain)) - known or _HOW_TO_REPORT.search(plain):
                continue
            parts.append(f"{subject}: {plain}?")
    return list(dict.fromkeys(parts)) or [question]


# "a Brindamat", "the Dovrin"
_ARTICLE = re.compile(r"\b(?:an?|the|our) (?=[A-Z])")


def entities_of(question: str) -> list[str]:
    """Return the names that a question lists, at least two, without their articles."""
    return _listed(question) or _listed(_ARTICLE.sub("", question))


def _listed(question: str) -> list[str]:
    for listed in re.findall(r"\(([^)]*)\)|(?:\bof|:) ([A-Z][^.?:;]*)", question):
        names = re.split(r",\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", "".join(listed))
        kept = [name.strip() for name in names if _NAME.fullmatch(name.strip())]
        if len(kept) >= 2 and len(kept) == len(names):
            return kept
    listed = _NAMES.search(_QUESTION_START.sub(" ", question))
    return re.split(r", (?:and |or )?| (?:and|or) ", listed.group()) if listed else []


def _bare(clause: str) -> str:
    """Return a clause without its interrogative words."""
    before = None
    while before != clause:
        before, clause = clause, _LEAD.sub("", clause.strip())
    return clause


def _clauses(sentence: str) -> list[str]:
    """Return the clauses and listed things of a sentence, each alone."""
    _, by, listed = sentence.partition(" by ")
    if by and listed.count(",") >= 2:
        return _clauses(listed)
    pieces = [each for each in re.split(r",\s*", sentence) if not _HOW_TO_REPORT.search(each)]
    if not pieces:
        return []
    last = pieces[-1]
    if len(pieces) >= 3 and not re.match(r"(?:and|or)\s", last):
        pieces[-1:] = re.split(r"\s+(?:and|or)\s+", last, maxsplit=1)
    return [part for piece in pieces for part in _CLAUSE.split(piece)]


def _common_words(one: str, other: str) -> str:
    """Return the first words that two findings have in common, without function words."""
    known = {*plain_words(other)}
    return " ".join([word for word in plain_words(one) if word in known][:LONGEST_NAME])


def _left_open(envelope: Envelope, shown: str) -> list[str]:
    """Return the sub-questions on which a prompt shows nothing: all that is known to be open."""
    told = {line.note for line in envelope.lines(shown)}
    return [
        f"{sub.id}: {sub.text}" for sub in envelope.lines("SUB-QUESTIONS") if sub.id not in told
    ]


def _shared(old: Row, new: Row) -> str:
    """Return the words that both statements have, which name what has changed."""
    known = {*_plain(old["statement"]).split()}
    shared = [word for word in _plain(new["statement"]).split() if word in known]
    return " ".join(shared[:LONGEST_NAME])


def _value_in(fact: Row, line: Line) -> str:
    """Return the value of a fact as a finding words it."""
    return next((v for v in fact["values"] if _plain(v) in _plain(line.text)), fact["values"][0])
