"""`claim__has_word="ledger"`: a search that stays quick over millions of rows.

On PostgreSQL a column beside the text holds its words (`claim_words`, migration `stored_words`),
with an index: rare words are found by the index, and common ones by reading the newest rows, of
which none has to be parsed. No language is told, for claims have many. Elsewhere every row is
compared.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Lookup, TextField


@TextField.register_lookup
class HasWord(Lookup):  # type: ignore[type-arg]
    """A word that begins so, or several, in letters of any case; elsewhere than on PostgreSQL
    also one that only holds them."""

    lookup_name = "has_word"
    prepare_rhs = False

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        begun = " & ".join(f"{word}:*" for word in letters(str(self.rhs)).split())
        table, column = self.lhs.alias, f"{self.lhs.target.column}_words"
        words = f"{connection.ops.quote_name(table)}.{connection.ops.quote_name(column)}"
        return f"{words} @@ to_tsquery('simple', %s)", [begun]

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        patterns = [f"%{word}%" for word in letters(str(self.rhs)).split()]
        held = " AND ".join(f"{text} LIKE %s" for _ in patterns)
        return held or "1 = 0", [each for pattern in patterns for each in (*values, pattern)]


def letters(text: str) -> str:
    """Only letters and digits: everything else means something to the text search."""
    return "".join(each if each.isalnum() else " " for each in text).strip()
