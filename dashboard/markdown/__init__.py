"""The page of a report: its Markdown parsed, completed with links and rendered as HTML."""
