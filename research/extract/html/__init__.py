"""HTML extraction: boilerplate removal, main content, light Markdown blocks and metadata."""
