import pytest

from bench import table_cells, verifier


@pytest.mark.parametrize("name", [None, "good", "yes"])
def test_each_claim_of_a_part_has_a_fate(name: str | None) -> None:
    found = [*verifier.fates("held_out_9", name, 0)]
    assert len(found) == 156
    assert {each.became for each in found} <= {"statement", "quotation", "lost"}
    shown = [each for each in found if each.became == "statement"]
    assert bool([each for each in shown if each.row.faithful]) is (name == "good")


@pytest.mark.parametrize("name", [None, "good"])
def test_each_labelled_cell_has_a_fate(name: str | None) -> None:
    found = [*table_cells.cell_fates("tuning", name)]
    assert len(found) == 100
    shown = [row["faithful"] for row, fate in found if fate != "left out"]
    assert len(shown) > 30 if name else len(shown) < 5
    assert sum(shown) >= 0.9 * len(shown) or name is None
