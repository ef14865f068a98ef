"""The model's tasks: one module each, with a prompt file, an answer schema and a fallback."""
