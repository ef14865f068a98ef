"""The queue: which run is executed next, in which process, and by how many at once.

`admission` decides whose turn it is, `embedded` executes runs on an event loop, `presence` keeps
the table of processes and takes over from dead ones, `processes` puts these parts together.
"""

QUEUES = ("research", "indexing", "retention", "deliveries", "schedules")
"""What a process may work on."""
