"""Text extraction: turns downloaded bytes into readable text, in worker processes."""
