"""The Markdown of a report: its markers, short answer, sections and what stands behind them."""
