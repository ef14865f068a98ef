"""Fetching of web pages: SSRF guard, robots.txt, rate limits, size and time limits, page cache."""
