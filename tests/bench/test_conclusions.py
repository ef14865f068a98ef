import pytest

from bench.claim_check import read_rows
from bench.conclusions import PARTS, checked_by_code, shares_table
from research.engine.verifier.pairs import CONCLUSION


@pytest.mark.parametrize("part", PARTS)
def test_a_verifier_is_shown_each_conclusion_with_its_quotes_and_the_question(part: str) -> None:
    rows = read_rows(f"conclusions_{part}.jsonl")
    assert len(rows) == 50
    refused = 0
    for row in rows:
        pair, strange = checked_by_code(row)
        refused += bool(strange)
        assert pair.statement == f"{CONCLUSION} {row['conclusion']}"
        assert pair.quotes[-1].text == row["question"]
        assert len(pair.quotes) > len(row["evidence"]) - 1
    assert refused < 5
    shown = {row["id"]: row["follows"] for row in rows}
    assert "| **follow** | 25 of 25 |" in shares_table(rows, shown)
