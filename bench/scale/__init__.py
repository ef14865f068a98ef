"""Several processes on one PostgreSQL: shared limits, fairness and claims.

    python -m bench.scale places
    python -m bench.scale fairness
    python -m bench.scale claims

Each takes under two minutes, on an empty database of the server that TEST_DATABASE_URL names, in a
process of its own; it prints its figures as JSON.
"""
