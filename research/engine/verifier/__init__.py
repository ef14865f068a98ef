"""Checking by a model what code cannot, with planted pairs that check the model in turn."""
