"""Runs the engine in the simulated world and compares what its ways of stopping are worth.

Read in this order: `running.py` (one run and its figures), `depths.py` (one question at every
depth), `strategies.py` (what each rule would have done), `statistics.py`, `overhead.py`.
"""
