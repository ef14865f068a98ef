"""The suites of `make bench`: each measures one thing and writes one section of the page."""
