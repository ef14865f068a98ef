"""The report: checked against the ledger, rendered as Markdown, and begun ahead of the verdict."""
