"""Read model: what displays and clients read of a run, from its committed rows only."""
