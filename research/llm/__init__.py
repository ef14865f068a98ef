"""Client for model servers that speak OpenAI's chat completions: requests, streaming, capability
detection, token usage and prices.
"""
