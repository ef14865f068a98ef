"""Calling a model: prompts, numbered pages, fitting to the context window, and parsing answers."""
