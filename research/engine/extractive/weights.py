"""What each sign that a passage answers weighs (`scoring.py`).

Fitted as `bench/fitting.py` does: a softmax over the passages of the pages that a search names,
on questions over documentation, with the weights scaled afterwards so that scores keep the
range for which the thresholds of `reading.py`, `ledger.py` and `drafting.py` were chosen. Signs
that made no difference were left out. The table is of pages as an earlier index named them:
`python -m bench.fitting` prints what today's give, which balances the same signs otherwise.
"""

BASE = 0.03
WEIGHTS = {
    "with its headings": 0.102,
    "word for word": 0.086,
    "headings word for word": 0.216,
    "terms": 0.080,
    "window": 0.047,
    "section": 0.105,
    "page": 0.111,
    "page's best window": 0.141,
    "number": 0.058,
    "default": 0.143,
    "condition": 0.033,
    "opens its section": -0.047,
    "list item": -0.043,
    "table row": -0.117,
}

BY_HAND = {"definition": 0.2, "counted": 0.2, "version note": -0.15}
"""Not fitted: the questions of the fit ask for no definitions and hardly "how many", and few are
tempted by notes on versions."""
