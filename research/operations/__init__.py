"""Operating an installation: metrics, readiness, logs, backups and the state of the work."""
