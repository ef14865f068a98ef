"""The model tool: any endpoint that speaks OpenAI's chat completions."""
