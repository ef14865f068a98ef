"""Full-text search over documents, in SQLite or PostgreSQL.

`index.DocumentIndex` is the entry point: it keeps one collection of documents for each folder,
reads changes (`index_rows`, `index_collections`) and answers queries (`index_queries`).

A query is processed in three ways. `query_terms` turns it into stemmed words, phrases and exact
names for the database's full-text search (`fts5`, `tsvectors` with `pg_lexemes`). `entries` looks
up titles, headings and explained terms that the query contains whole, function words included. The
sides of a comparison are searched one by one. `ranking` adds the scores.

`index_store` defines what a database must provide; `index_sqlite` and `index_postgres` contain
tables and connections, each with a version: an index of another version is rebuilt from the
folders. `passages` cuts a text into headings, passages and explained terms.
"""
