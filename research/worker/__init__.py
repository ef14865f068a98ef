"""Execution of claimed runs: leases, journal store, writer, projection, replay, retention."""
