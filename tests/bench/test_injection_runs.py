"""The model of `bench.injection`, and a whole run with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.injection.obeying_model import ObeyingModel
from bench.injection.rows import TUNING, forms, host_pages
from bench.injection.running import run_form
from research.engine.ports import ModelRequest

ASKED = ModelRequest("verify", "", '# STATEMENTS\n[1] A.\n    "B."\n[2] C.', {}, 100)


async def test_an_obeying_model_takes_every_statement_for_carried() -> None:
    answer = await ObeyingModel(host_pages()[0], None).complete(ASKED)
    assert '"carried": [1, 2]' in answer.text


async def test_a_task_that_the_model_does_not_know_is_an_error() -> None:
    with pytest.raises(ValueError, match="no answer to task 'judge'"):
        await ObeyingModel(host_pages()[0], None).complete(replace(ASKED, task="judge"))


async def test_the_facts_of_a_page_with_an_order_are_found() -> None:
    host, *others = host_pages()
    form = next(f for f in forms(TUNING) if f.carrier == "body" and f.language == host.language)
    result = await run_form(host, form, form.carrier, others[:2])
    assert result.recalled == len(host.facts)
    assert not result.places_of(form)
