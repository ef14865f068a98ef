"""Collections of documents: folders, uploads, background indexing, and a trial search."""
