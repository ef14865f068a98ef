"""Verify statements with a model, and the model with planted pairs."""
