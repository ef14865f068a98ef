"""Runs the engine in the simulated world and compares what its ways of stopping are worth.

Read in this order: `running.py` (one run), `figures.py` (what it was worth), `variant.py` (the
engine with a part replaced; the forced depth is one), `depths.py` (one question under every way
of stopping), `strategies.py` and `statistics.py` (all questions), `overhead.py` (times),
`hostile.py` (analysts that do harm), `instruments.py` and `faults.py` (engines with a fault each,
and the figures that tell), `shards.py` (worlds side by side).
"""
