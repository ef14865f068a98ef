"""The database refuses values outside their range."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction

from research.models import Round, Run, WhatIf
from tests.dashboard.conftest import make_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("column", "value"),
    [("score", 10.5), ("score", -1), ("model_score", 11), ("cap", 99), ("novelty", 1.5)],
)
def test_values_of_a_round_have_a_range(ada: AbstractUser, column: str, value: float) -> None:
    made = Round.objects.create(run=make_run(ada), number=1, stage="overview")
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=made.pk).update(**{column: value})
    Round.objects.filter(pk=made.pk).update(score=10, model_score=0, cap=None, novelty=1)


def test_the_score_of_a_run_is_at_most_ten(ada: AbstractUser) -> None:
    run = make_run(ada, quality_score=10)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(quality_score=10.1)


def test_a_what_if_has_a_threshold_that_a_run_may_have(ada: AbstractUser) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        WhatIf.objects.create(
            run=make_run(ada), threshold=0.5, engine_version="1", is_complete=True, rounds=1,
            run_rounds=1, calls=1, run_calls=1, evidence_lost=0, run_evidence=0,
        )  # fmt: skip
