"""The HTTP API under `/api/v1/`: JSON over the same services as the pages."""
