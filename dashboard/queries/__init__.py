"""Database reads of the pages. The number of queries is independent of the number of rows."""
