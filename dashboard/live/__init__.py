"""Live updates: renders a watched run once per process and pushes diffs to WebSocket clients."""
