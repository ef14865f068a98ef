"""The command, from files to figures, with its worker processes."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from bench.evaluation import pool
from bench.evaluation.cases import read_cases
from bench.evaluation.results import Failed, Job, Results
from bench.evaluation.run_questions import run_cases
from bench.evaluation.summary import summarise
from research.engine import ResearchConfig
from tests.bench.evaluation.planted import CHAIN, PLAIN, write

pytestmark = pytest.mark.subprocess


@pytest.fixture
def home(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.STATE_DIR = tmp_path / "home"
    settings.RESEARCH_MODEL = ""
    monkeypatch.setenv("PLUMBLINE_HOME", str(settings.STATE_DIR))
    monkeypatch.setenv("RESEARCH_MODEL", "")
    return settings.STATE_DIR


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [
        str(write(tmp_path / "chains.jsonl", [CHAIN])),
        str(write(tmp_path / "others.jsonl", [PLAIN, {**CHAIN, "id": "again", "hops": 3}])),
    ]


def evaluate(*args: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("evaluate", *args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def figures(*args: str) -> tuple[dict[str, Any], str]:
    out, err = evaluate(*args, "--json")
    return json.loads(out), err


def test_json_and_folder_hold_the_figures(
    home: Path, files: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result, _ = figures(*files, "--out", str(tmp_path / "out"))
    assert "never retrieved" not in capfd.readouterr().err, "said by no worker process either"
    assert (result["questions"], result["pages"], result["analyst"]) == (3, 10, "extractive")
    assert result["knobs"] == {"max_pages_per_round": 5}
    assert set(result["by_file"]) == {"chains", "others"}
    assert set(result["by_hops"]) == {"1", "2", "3"}
    recalls = [each["recall"] for each in result["rounds"]]
    assert recalls == sorted(recalls)
    assert len(recalls) == 5
    assert recalls[-1] == result["rounds"][-1]["whole_chain"] == 1
    stopping = result["stopping"]
    assert stopping["premature"] + stopping["late"] + stopping["exact"] == pytest.approx(
        1, abs=1e-3
    )
    assert stopping["replayed"] + stopping["run_live"] == sum(stopping["reasons"].values()) == 3
    assert set(stopping["at_equal_rounds"]) == {
        "cost", "recall", "fixed_recall", "gain", "low", "high",
    }  # fmt: skip
    assert (result["answers"]["applicable"], result["answers"]["yes_no"]) == (2, 1)
    assert result["quotes"]["precision"] == 1
    assert result["failed"] == []
    out = tmp_path / "out"
    assert json.loads((out / "evaluation.json").read_text()) == result
    assert len((out / "questions.jsonl").read_text().splitlines()) == 3
    assert "whole chain" in (out / "evaluation.txt").read_text()


def test_a_rerun_goes_on_past_a_line_that_was_cut_off(home: Path, files: list[str]) -> None:
    _, first = figures(*files, "--limit", "1")
    assert "before" not in first
    (kept,) = home.glob("evaluation/*/results-*.jsonl")
    with kept.open("a") as file:
        file.write('{"key": "cut off')
    result, second = figures(*files)
    assert "1 of 3 questions were done before." in second
    again, third = figures(*files)
    assert "3 of 3 questions were done before." in third
    assert {**again, "seconds": 0} == {**result, "seconds": 0}


def test_other_knobs_pages_or_analysts_have_results_of_their_own(tmp_path: Path) -> None:
    job = Job(pool.Library(tmp_path, 1), ResearchConfig())
    other = replace(job, config=ResearchConfig(max_pages_per_round=2))
    elsewhere = replace(job, library=pool.Library(tmp_path / "other", 1))
    kept = [Results.of(each, "extractive").path for each in (job, other, elsewhere)]
    assert len({*kept, Results.of(job, "a-model").path}) == 4
    assert Results.of(job, "extractive").path == kept[0]


def test_the_table_names_rounds_rule_and_reasons(home: Path, files: list[str]) -> None:
    out, err = evaluate(files[0], "--pool", files[1])
    for part in ("1 questions over 10 pages", "round 5", "premature", "quote precision", "Reasons"):
        assert part in out
    assert "1 of 1 questions" in err


def test_bad_use_is_refused_in_a_sentence(home: Path, files: list[str], tmp_path: Path) -> None:
    broken = write(tmp_path / "broken.jsonl", [{"id": "x"}])
    with pytest.raises(CommandError, match=r"broken\.jsonl, line 1"):
        evaluate(str(broken))
    with pytest.raises(CommandError, match="NO_SUCH_KNOB"):
        evaluate(files[0], "--set", "NO_SUCH_KNOB=1")


def test_a_question_at_which_something_breaks_is_told(home: Path, files: list[str]) -> None:
    cases = read_cases([Path(files[0])])
    library = pool.build(cases[0].pages, home / "evaluation")
    asyncio.run(pool.index(library))
    shutil.rmtree(library.pages_folder)
    (failed,) = run_cases(cases, Job(library, ResearchConfig()))
    assert isinstance(failed, Failed)
    assert failed.fault.startswith("FileNotFoundError")
    result = summarise([], [failed])
    assert (result["questions"], len(result["failed"])) == (0, 1)
