"""Evaluation on questions with known answers and known pages."""
