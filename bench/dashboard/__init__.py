"""Measurements of the dashboard suite (`make bench SUITE=dashboard`), one module per concern.

`watching.py` measures the latency from a commit to its viewers, `looking.py` what a browser shows
and preserves during updates, `pages.py` the pages over a database filled by `filling.py`.
"""
