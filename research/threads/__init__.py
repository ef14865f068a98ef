"""Follow-up runs of a thread: seeds, carried-over verdicts, stale reports, gate after a review."""
