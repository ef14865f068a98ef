"""The ledger of a run: claims with their quotes, and their checks by code.

Near-duplicate pages count as one source, contradictions are found between claims, and text in a
page that gives the model orders (prompt injection) is recognised.
"""
