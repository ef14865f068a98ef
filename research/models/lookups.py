"""`claim__has_word="ledger"`: full-text lookup that stays fast over millions of rows.

On PostgreSQL a column stores the words of the text (`claim_words`, `markdown_words`), with an
index: rare words are found through the index, common ones by scanning the newest rows, without
parsing any text. No language is configured, since texts may be in any. Other databases compare
every row.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Lookup, TextField


@TextField.register_lookup
class HasWord(Lookup):
    """Matches texts with words that start with the given ones, ignoring case; on databases other
    than PostgreSQL, also texts that merely contain them.
    """

    lookup_name = "has_word"
    prepare_rhs = False

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        begun = " & ".join(f"{word}:*" for word in keep_alphanumeric(str(self.rhs)).split())
        table, column = self.lhs.alias, f"{self.lhs.target.column}_words"
        words = f"{compiler.quote_name_unless_alias(table)}.{connection.ops.quote_name(column)}"
        return f"{words} @@ to_tsquery('simple', %s)", [begun]

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        text, values = self.process_lhs(compiler, connection)
        patterns = [f"%{word}%" for word in keep_alphanumeric(str(self.rhs)).split()]
        held = " AND ".join(f"{text} LIKE %s" for _ in patterns)
        return held or "1 = 0", [each for pattern in patterns for each in (*values, pattern)]


def keep_alphanumeric(text: str) -> str:
    """Replace all but letters and digits, since other characters are text search syntax."""
    return "".join(each if each.isalnum() else " " for each in text).strip()
