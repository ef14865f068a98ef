"""Which conclusions of authors are shown, of those that follow from their findings or don't?

    python -m bench.conclusions [--part tuning|held_out]            # what code alone refuses
    OPENAI_BASE_URL=… RESEARCH_MODEL=… python -m bench.conclusions --ask  # and a model as verifier

`bench/claims/conclusions_PART.jsonl` has labelled conclusions, each with the findings that it
cites. A run asks its verifier about each in the same words, with canaries among them.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

from bench.asking import configured_journal
from bench.claim_check import Row, read_rows
from bench.page import table
from bench.table_cells import record_of, run_on
from research.engine.config import ResearchConfig
from research.engine.llm_tasks.prompting.ask import ask_model
from research.engine.llm_tasks.verify import VERIFY_TWICE, verdicts_by_pair, verify_context
from research.engine.report.checking.next_steps import conclusion_faults
from research.engine.report.draft import Draft, Statement
from research.engine.verifier.pairs import Pair
from research.engine.verifier.planting import shown_pair

PARTS = ("tuning", "held_out")
BATCH = 13
"""Conclusions of one call, of which a run has fewer."""


def checked_by_code(row: Row) -> tuple[Pair, str]:
    """Return a conclusion as the verifier is shown it, and what it has of its own by code."""
    run = run_on(row["question"])
    for number, told in enumerate(row["evidence"], 1):
        run.ledger.book.records[f"E{number}"] = record_of(f"E{number}", told)
    ids = tuple(run.ledger.book.records)
    said = Statement(row["conclusion"], ids, concludes=True)
    faults = conclusion_faults(Draft((said,), ()), run.ledger)
    return shown_pair(said, run.ledger), "; ".join(fault.reason for fault in faults)


async def ask_verifier(pairs: Sequence[Pair]) -> list[bool]:
    """Return for each pair whether the configured model carries it at both looks."""
    attempts = ResearchConfig().max_model_attempts
    carried: list[bool] = []
    async with configured_journal() as journal:
        for at in range(0, len(pairs), BATCH):
            asked = pairs[at : at + BATCH]
            place, context = f"conclusions/{at}", verify_context(asked)
            answer = await ask_model(journal, attempts, place, VERIFY_TWICE, context)
            verdicts = verdicts_by_pair(answer, len(asked), len(asked))
            carried += [each.carried and not each.is_faulty for each in verdicts]
    return carried


def shares_table(rows: Sequence[Row], shown: Mapping[str, bool]) -> str:
    """Return how many conclusions of each kind are shown, by their ids."""
    lines = []
    for follows in (True, False):
        told = [row for row in rows if row["follows"] is follows]
        kinds = Counter(row["kind"] for row in told)
        seen = Counter(row["kind"] for row in told if shown[row["id"]])
        name = "follow" if follows else "don't follow"
        lines.append([f"**{name}**", f"{seen.total()} of {len(told)}"])
        lines += [[kind, f"{seen[kind]} of {number}"] for kind, number in kinds.items()]
    return table(["conclusions", "shown"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.conclusions", description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="tuning")
    parser.add_argument("--ask", action="store_true", help="ask the configured model")
    options = parser.parse_args()
    rows = read_rows(f"conclusions_{options.part}.jsonl")
    Random(0).shuffle(rows)  # the parts are ordered by what is right
    checked = {row["id"]: checked_by_code(row) for row in rows}
    shown = {number: not strange for number, (_, strange) in checked.items()}
    print(shares_table(rows, shown))
    for row in rows:
        if row["follows"] and (strange := checked[row["id"]][1]):
            print(f"refused by code: {row['id']}: {strange}")
    if options.ask:
        asked = [row["id"] for row in rows if shown[row["id"]]]
        carried = asyncio.run(ask_verifier([checked[number][0] for number in asked]))
        verdicts = dict(zip(asked, carried, strict=True))
        shown = {number: verdicts.get(number, False) for number in shown}
        print(f"\n{shares_table(rows, shown)}")
        wrong = [row["id"] for row in rows if shown[row["id"]] is not row["follows"]]
        print(f"\njudged otherwise than labelled: {', '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
