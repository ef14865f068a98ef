"""Understanding a question without a model: its type, its terms and their weights."""
