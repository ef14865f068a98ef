"""What the command line takes of the mode and its knobs, and what it shows of a run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from rich.console import Console

from research.engine.config import ResearchConfig
from research.management.commands.research import build_config, command_line_sources, next_commands
from research.models import Run
from research.readmodel.progress import load_progress
from research.runtime.terminal import render_progress
from research.worker.run_executor import advance_run
from tests.research.scripts import World, research


@pytest.mark.requirement("A17")
def test_mode_and_knobs_of_the_command_line_go_before_the_installation_s() -> None:
    defaults = ResearchConfig(deep_research_mode="fixed", adaptive_max_depth=4, max_searches=7)
    assert build_config(None, [], defaults) == defaults
    given = build_config("adaptive", ["ADAPTIVE_MAX_DEPTH=3"], defaults)
    assert (given.deep_research_mode, given.adaptive_max_depth) == ("adaptive", 3)
    assert given.max_searches == 7


@pytest.mark.requirement("A17")
def test_a_minimum_depth_above_the_maximum_is_refused_on_the_command_line() -> None:
    with pytest.raises(CommandError, match=r"ADAPTIVE_MIN_DEPTH \(9\) is above") as refused:
        build_config("adaptive", ["ADAPTIVE_MIN_DEPTH=9"], ResearchConfig())
    assert refused.value.returncode == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("named", "searched"),
    [
        (None, ["documents"]),
        ("none", ["documents"]),
        ("wikipedia", ["documents", "wikipedia"]),
        ("samples,documents", ["samples", "documents"]),
    ],
)
def test_a_folder_that_is_given_is_searched_whatever_else_is_named(
    tmp_path: Path, named: str | None, searched: list[str]
) -> None:
    assert command_line_sources(named, [str(tmp_path)]) == {
        "search": searched,
        "documents": [str(tmp_path)],
    }


@pytest.mark.django_db(transaction=True)
def test_the_command_names_the_run_and_what_takes_it(run: Run) -> None:
    asked = f"Run {run.public_id}: manage.py replay {run.public_id}"
    assert next_commands(run) == asked
    asyncio.run(advance_run(run.pk, World().tools, engine=research))
    export = f"manage.py runs export {run.public_id} pdf, "
    assert next_commands(run) == asked.replace("manage.py replay", f"{export}manage.py replay")


@pytest.mark.requirement("A17")
@pytest.mark.django_db(transaction=True)
def test_the_terminal_shows_round_score_and_gaps(run: Run) -> None:
    asyncio.run(advance_run(run.pk, World().tools, engine=research))
    run.gaps.update(closed_round=None)
    console = Console(width=120)
    with console.capture() as drawn:
        console.print(render_progress(load_progress(run)))
    shown = drawn.get()
    assert "Good enough." in shown and "How hot?" in shown
    assert "round 2 of up to 3 · score 8.0, goal 7 · 1 gap · 1 quote from" in shown


@pytest.mark.requirement("B7")
@pytest.mark.django_db(transaction=True)
def test_the_terminal_shows_the_level_of_the_fixed_mode_and_the_queries_done(run: Run) -> None:
    asyncio.run(advance_run(run.pk, World().tools, engine=research))
    Run.objects.update(mode="fixed")
    console = Console(width=120)
    with console.capture() as drawn:
        console.print(render_progress(load_progress(run)))
    assert "level 2 of 2, 1 of 1 queries done · score 8.0, goal 7" in drawn.get()
