"""Parts of a report: its paragraphs, tables, timeline, sources and method note."""
