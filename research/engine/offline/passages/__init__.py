"""Reading without a model: ranked passages of a page, and how well they answer a question."""
