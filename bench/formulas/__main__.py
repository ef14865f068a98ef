"""What does code refuse of sentences with formulas, and of next steps?

`python -m bench.formulas [--held-out]` reads sentences and steps that an author wrote who had not
seen the code: with a question, quotes of pages and manuals, and what is wrong with each. What turns
a quote round, or means another quantity, is left to the verifier.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.page import table
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import EvidenceStore
from research.engine.records import Complexity, Evidence, Plan, QuoteSource
from research.engine.report.checking.next_steps import is_within_evidence, proposed_code
from research.engine.report.checking.statement_check import check_statement
from research.engine.report.draft import cite_ids

HERE = Path(__file__).parent
Row = Mapping[str, Any]
WRITTEN = datetime(2026, 11, 28, tzinfo=UTC)
_GERMAN = re.compile(r"\b(?:der|die|das|ist|sind|wir|Sie|und|mit)\b")


def rows_of(kind: str, part: str) -> list[Row]:
    """Return the sentences or steps of a part."""
    lines = (HERE / f"{kind}_{part}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def of_sentence(row: Row) -> tuple[str, str]:
    """Return what a sentence is, and whether code refuses it."""
    ledger = ledger_of(row, row["sentence"])
    check = check_statement(cite_ids(row["sentence"], ledger), ledger)
    return row["fault"] or "faithful", "refused" if check.outcome == "refused" else "kept"


def of_step(row: Row) -> tuple[str, str]:
    """Return what a step is, and what code takes it for."""
    ledger = ledger_of(row, row["step"])
    step = cite_ids(row["step"], ledger)
    if not is_within_evidence(step, ledger):
        return row["expected"], "refused"
    return row["expected"], "proposal" if proposed_code(step, ledger) else "kept"


def ledger_of(row: Row, text: str) -> Ledger:
    """Return a ledger of the newest form with the question and the quotes of a row."""
    plan = Plan("", Complexity.ORDINARY, "de" if _GERMAN.search(text) else "en", ())
    ledger = Ledger(row["question"], plan, lambda _: None, EvidenceStore(), refuses_by="things")
    for quote in row["quotes"]:
        source = _source(quote["text"], quote["title"])
        record = Evidence(quote["id"], quote["text"], "A1", 1, (source,), 1.0)
        ledger.book.records[record.id] = record
    return ledger


def _source(text: str, title: str) -> QuoteSource:
    return QuoteSource("", title, "", "", text, 0, len(text), "", WRITTEN)


def counts_of(rows: Iterable[Row], judge: Callable[[Row], tuple[str, str]]) -> str:
    """Return a table of what rows are and what code finds of them."""
    counts = Counter(map(judge, rows))
    kinds, found = (dict.fromkeys(sorted(each[n] for each in counts)) for n in (0, 1))
    return table(("", *found), ((kind, *(str(counts[kind, f]) for f in found)) for kind in kinds))


def main() -> None:
    """Print what code refuses of one part."""
    options = argparse.ArgumentParser(prog="python -m bench.formulas", description=__doc__)
    options.add_argument("--held-out", action="store_true", help="measure the held-out part")
    part = "held_out" if options.parse_args().held_out else "tuning"
    print(f"part: {part}\n\nsentences\n\n{counts_of(rows_of('sentences', part), of_sentence)}")
    print(f"\nnext steps\n\n{counts_of(rows_of('steps', part), of_step)}")


if __name__ == "__main__":
    main()
