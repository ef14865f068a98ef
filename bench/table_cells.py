"""Which cells of comparison tables are shown, of those that their evidence carries or doesn't?

    python -m bench.table_cells [--part tuning|held_out] [--list]

`bench/claims/cells_PART.jsonl` has labelled cells in other words than their quotes. Code puts those
into the table whose words stand in their quotes, and a verifier may carry others. Verifiers are
stubs that err at known rates, as in `bench.verifier`, and are taken to be believed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Literal

from bench.claim_check import Row, read_rows
from bench.page import table
from bench.verifier import GOOD, HONEST, looks_twice, qualification_by
from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import Outcome
from research.engine.evidence.relations import Relations
from research.engine.journal import Journal, MemoryStore
from research.engine.journal.forms import NEWEST
from research.engine.llm_tasks.answers import CellAnswer, CompareAnswer
from research.engine.records import Complexity, Evidence, Plan, QuoteSource
from research.engine.report.checking.statement_check import check_statement, join_quotes
from research.engine.report.checking.table_values import cell_statements, cells_of
from research.engine.run import Question, Run
from research.engine.verifier.pairs import CitedQuote, LabelledPair, Pair

PARTS = ("tuning", "held_out")
SEEDS = 20
CORRELATION = 0.5
"""Share of a stub's errors that both of its looks make."""
Fate = Literal["code", "verifier", "left out"]


def cell_fates(part: str, name: str | None, seed: int = 0) -> Iterator[tuple[Row, Fate]]:
    """Yield each labelled cell with who shows it; `name` is that of a stub, None for no verifier.

    Each question is a table of its own.
    """
    rows = sorted(read_rows(f"cells_{part}.jsonl"), key=lambda row: row["question"])
    for question, cells in groupby(rows, key=lambda row: row["question"]):
        yield from _fates_of_table(question, [*cells], name, seed)


def _fates_of_table(
    question: str, rows: Sequence[Row], name: str | None, seed: int
) -> Iterator[tuple[Row, Fate]]:
    run = run_on(question, name, seed)
    for row in rows:  # one by one: two may be of one place
        run.ledger.book.records.clear()
        ids = []
        for number, told in enumerate(row["evidence"], 1):
            ids.append(f"E{number}")
            run.ledger.book.records[ids[-1]] = record_of(ids[-1], told)
        cell = CellAnswer(
            entity=row["thing"], property=row["property"], value=row["value"], evidence=ids
        )
        answer = CompareAnswer(
            newer=[], disagree=[], entities=[row["thing"]], properties=[row["property"]],
            cells=[cell],
        )  # fmt: skip
        proposed, doubtful = cells_of(run, answer, {})
        run.ledger.relations = Relations(True, proposed=proposed, doubtful=doubtful)
        found = _judged(run, row, name, seed)
        if proposed[2]:
            yield row, "code" if found != "refused" else "left out"
        else:
            yield row, "verifier" if doubtful and found == "carried" else "left out"


def _judged(run: Run, row: Row, name: str | None, seed: int) -> Outcome:
    """Return what code and the stub find of a cell, as `settle_cells` reads it."""
    for statement in cell_statements(run):
        check = check_statement(statement, run.ledger)
        if check.outcome == "carried" or name is None:
            return "carried" if check.outcome == "carried" else "undecided"
        if check.outcome == "refused":
            return "refused"
        sources = [s for r in run.ledger.book.records.values() for s in r.sources]
        quotes = (CitedQuote(join_quotes(sources, run.ledger)[0]),)
        pair = LabelledPair(Pair(statement.text, quotes), row["faithful"], row["kind"])
        if not looks_twice(name, seed, CORRELATION)(pair):
            return "refused"
        is_believed = run.verifier_sees_details or not check.is_near
        return "carried" if is_believed else "undecided"
    return "undecided"


def run_on(question: str, name: str | None = None, seed: int = 0) -> Run:
    """Return a run on a question, with a stub as verifier if one is named."""
    journal = Journal(MemoryStore(), None, Meter(ResearchConfig()), analyst="stub")
    run = Run(Question(question, "2026-11-29"), ResearchConfig(), journal)
    run.form = run.began = NEWEST
    if name is not None:
        run.qualification = qualification_by(looks_twice(name, seed, CORRELATION))
    run.open_ledger(Plan(question, Complexity.COMPLEX, "en", ()))
    run.ledger.refuses_by = "things" if run.verifier_sees_details else "likeness"
    return run


def record_of(number: str, told: Row) -> Evidence:
    """Return a labelled piece of evidence as a record with this id."""
    quote = told["quote"]
    url = f"https://manual.example/{abs(hash(told['title']))}"
    source = QuoteSource(
        url, told["title"], "manual.example", url, quote, 0, len(quote), "",
        datetime(2026, 11, 29, tzinfo=UTC), told["heading"],
    )  # fmt: skip
    return Evidence(number, told["claim"], None, 1, (source,), 1.0)


def shares_table(part: str, seeds: int = SEEDS) -> str:
    """Return how many cells are shown with each stub, faithful and not, over the seeds."""
    lines = []
    for name in (None, HONEST, GOOD):
        counts: Counter[tuple[bool, Fate]] = Counter()
        for seed in range(seeds if name else 1):
            counts.update((row["faithful"], fate) for row, fate in cell_fates(part, name, seed))
        lines.append([name or "none", *(_shares(counts, label) for label in (True, False))])
    return table(["verifier", "faithful shown (by code)", "unfaithful shown (by code)"], lines)


def _shares(counts: Counter[tuple[bool, Fate]], label: bool) -> str:
    whole = sum(count for (faithful, _), count in counts.items() if faithful is label)
    by_code, carried = counts[label, "code"], counts[label, "verifier"]
    shown = by_code + carried
    return f"{shown} of {whole} ({shown / whole:.1%}; by code {by_code / whole:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.table_cells", description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="tuning")
    parser.add_argument("--list", action="store_true", help="the unfaithful cells shown by code")
    options = parser.parse_args()
    print(shares_table(options.part))
    for row, fate in cell_fates(options.part, None) if options.list else ():
        if not row["faithful"] and fate != "left out":
            quoted = " / ".join(each["quote"] for each in row["evidence"])
            told = " | ".join((row["kind"], row["thing"], row["property"], row["value"]))
            print(f"\n{told}\n  {quoted}")


if __name__ == "__main__":
    main()
