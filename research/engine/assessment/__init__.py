"""After a round: what is missing, how good the research is, and whether it goes on.

Gates, score and stop rule are functions of the ledger; `close_round.py` applies them to a run, and
`rules.py` names those that can be replaced.
"""
