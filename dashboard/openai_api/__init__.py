"""OpenAI-compatible endpoints under `/v1/`: chat completions, responses and models."""
