"""One round of research: topics, searches, pages, reading, and the merge into the ledger."""
