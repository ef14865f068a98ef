"""Questions that are asked again at regular times.

`due_dates` computes when, `scheduler` starts the runs, `news` compares a result with the one
before, `manage` is what people may change.
"""
