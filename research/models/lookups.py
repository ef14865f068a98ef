"""`claim__has_word="ledger"`: a search that stays quick over millions of rows.

On PostgreSQL it is answered by an index of the words (migration `evidence_at_scale`); the text
search is told of no language, for claims have many. Elsewhere every row is compared.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Lookup, TextField

INDEXED = "to_tsvector('simple'::regconfig, {})"


@TextField.register_lookup
class HasWord(Lookup):  # type: ignore[type-arg]
    """A word that begins so; in letters of any case."""

    lookup_name = "has_word"
    prepare_rhs = False

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        words = [f"{word}:*" for word in letters(str(self.rhs)).split()]
        found = INDEXED.format(text)
        return f"{found} @@ to_tsquery('simple', %s)", [*values, " & ".join(words)]

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        pattern = connection.ops.prep_for_like_query(str(self.rhs))
        return f"{text} LIKE %s ESCAPE '\\'", [*values, f"%{pattern}%"]


def letters(text: str) -> str:
    """Only letters and digits: everything else means something to the text search."""
    return "".join(each if each.isalnum() else " " for each in text)
