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
    """A word that begins so, or several, in letters of any case; elsewhere than on PostgreSQL
    also one that only holds them."""

    lookup_name = "has_word"
    prepare_rhs = False

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        begun = " & ".join(f"{word}:*" for word in letters(str(self.rhs)).split())
        return f"{INDEXED.format(text)} @@ to_tsquery('simple', %s)", [*values, begun]

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        patterns = [f"%{word}%" for word in letters(str(self.rhs)).split()]
        held = " AND ".join(f"{text} LIKE %s" for _ in patterns)
        return held or "1 = 0", [each for pattern in patterns for each in (*values, pattern)]


def letters(text: str) -> str:
    """Only letters and digits: everything else means something to the text search."""
    return "".join(each if each.isalnum() else " " for each in text).strip()
