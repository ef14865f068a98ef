"""What `make bench SUITE=dashboard` measures: one module a concern.

`watching.py` times a change from its commit to its viewers, `looking.py` what a reader's browser
shows and keeps, `pages.py` the pages over a database that `filling.py` has filled.
"""
