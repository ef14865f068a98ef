"""Composition root: effective settings, tools and resources of a process, outages, terminal."""
