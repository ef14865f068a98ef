"""Where an installation on PostgreSQL keeps its index of documents."""

import json
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from research.fulltext.index_postgres import SCHEMA
from tests.support.installation import Installation
from tests.support.retrieval.folders import write

pytestmark = pytest.mark.services("postgresql")


def address(conninfo: str) -> str:
    """The same database, as `DATABASE_URL` has it."""
    given = conninfo_to_dict(conninfo)
    return "postgres://{user}@{host}:{port}/{dbname}".format(**{"port": 5432, **given})


@pytest.mark.parametrize("index", ["database", "file"])
def test_documents_are_indexed_in_the_database_unless_a_file_is_asked_for(
    empty_postgresql: str, tmp_path: Path, index: str
):
    folder = write(
        tmp_path / "notes", {"quay.txt": "The quay of Port Amber is made of grey granite."}
    )
    home = tmp_path / "home"
    settings = {"DATABASE_URL": address(empty_postgresql), "DOCUMENT_INDEX": index}
    installation = Installation(home, settings)
    assert installation.manage("migrate").returncode == 0
    question = "What is the quay of Port Amber made of?"
    done = installation.manage("research", question, "--documents", str(folder), "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert "granite" in json.dumps(json.loads(done.stdout))
    with psycopg.connect(empty_postgresql) as connection:
        (schema,) = connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone()
    assert (schema is not None, (home / "documents.sqlite3").exists()) == (
        index == "database",
        index == "file",
    )
