"""Rows of the database as what the templates show; no template sees a row."""
