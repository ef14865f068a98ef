"""Formats of dates and numbers where Django's own for a language don't suit the pages."""
