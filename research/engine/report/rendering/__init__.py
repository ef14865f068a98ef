"""Render a report as Markdown: markers, short answer, sections and the parts after them."""
