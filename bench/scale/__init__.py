"""Several processes on PostgreSQL and Redis: kills, outages, deployments, limits, fairness, load.

    make bench SUITE=scale                      # short: about 20 minutes
    make bench SUITE=scale ARGS="--runs 100 --kill-minutes 3 --outage-seconds 60"
    python -m bench.scale --only claims --only fairness

Parts that disturb processes or services start a PostgreSQL server of their own (`initdb` has to be
installed); the others use an empty database of the server that TEST_DATABASE_URL names. Redis is
reached through a proxy. Prints each figure with its bar, and exits with 1 if one is missed. Figures
of a machine that was busy are marked.
"""
