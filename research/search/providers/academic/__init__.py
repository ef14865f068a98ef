"""Searches for scholarly works."""
