"""A simulated world for measurements: pages, a search over them, and a model that can only read.

`python -m bench.world --seed 1` serves it; `bench.world.running.running_world` does so within a
block. Everything is derived from the seed.

Read in this order: `grammar.py` (wording and parsing of facts), `generate.py` (a world from its
seed), `wants.py` and `oracle.py` (the model, a function of its prompt), `hostile.py` (harmful
models), `score.py` (quality and cost of a run).
"""
