"""Orders in pages, from real files through whole runs with a model that obeys what it sees."""
