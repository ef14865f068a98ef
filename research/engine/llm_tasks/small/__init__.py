"""The tasks for a small model: short prompts, one thing at a time, short closed answers.

What a small model can't do is not asked of it: the marks of a round come from the ledger, and
a statement that its evidence does not carry is cut, not repaired.
"""
