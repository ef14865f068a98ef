"""Web and document search: providers, fallback chain, fusion and bounds of results."""
