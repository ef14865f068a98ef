"""Limits on calls to the outside, shared by all processes where the database is PostgreSQL.

`state` and `breaker` decide, as pure functions of a stored state and the time; `limiter` waits for
a turn; `database` keeps the states of all processes in one table.
"""
