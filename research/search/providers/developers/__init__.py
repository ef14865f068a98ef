"""Searches for code, and for questions about it."""
