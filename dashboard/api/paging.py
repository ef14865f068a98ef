"""Lists by cursor: stable while rows are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from django.db.models import QuerySet
from ninja import Query, Schema
from pydantic import ConfigDict, Field


class PageQuery(Schema):
    """Which part of a list to return."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = Field(
        None, pattern=r"^[0-9]{1,18}$", description="`next_cursor` of the page before."
    )
    limit: int = Field(25, ge=1, le=100)


Paging = Annotated[PageQuery, Query()]


def page_of(
    rows: QuerySet, paging: PageQuery, *, newest_first: bool = True
) -> tuple[Sequence[Any], str | None]:
    """Return the rows after the cursor, and the cursor of the next page or None."""
    if paging.cursor is not None:
        place = int(paging.cursor)
        rows = rows.filter(pk__lt=place) if newest_first else rows.filter(pk__gt=place)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: paging.limit + 1])
    shown = found[: paging.limit]
    return shown, str(shown[-1].pk) if len(found) > paging.limit else None
