"""The deterministic analyst: text statistics over the ledger and the pages, no model."""
