"""A simulated world to measure with: pages, a search over them, and a model that can only read.

`python -m bench.world --seed 1` serves it; `bench.world.running.running_world` does so for the
length of a block. Everything is made from the seed; another seed is another world.

Read in this order: `grammar.py` (how a fact is worded and read), `generate.py` (a world from its
seed), `wants.py` and `oracle.py` (the model, from its prompt alone), `hostile.py` (models that do
harm), `score.py` (what a run was worth and what it cost).
"""
