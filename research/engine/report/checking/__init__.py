"""Checks of a draft before it is a report."""
