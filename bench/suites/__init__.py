"""The suites of `make bench`: each measures one area and writes one section of the page."""
