"""Searches in the rows of a database and in the bytes of its files."""

from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import text

from bot.infra.db.address import parse_database_url
from bot.infra.db.encryption import list_sealed_tables
from bot.infra.db.engine import create_writer

BEGINNING = 5


def list_database_files(database: str | Path) -> list[Path]:
    """Return all files of an SQLite database: the database, its log, its index and its lock."""
    path = Path(str(database).removeprefix("sqlite:///"))
    return sorted(each for each in path.parent.iterdir() if each.name.startswith(path.name))


def find_texts(database: str | Path, texts: Iterable[str]) -> dict[str, list[str]]:
    """Return for each file which of `texts` it contains, in UTF-8, UTF-16 or hexadecimal."""
    wanted = {text: _forms(text) for text in texts}
    # Most texts have the same beginning. If a file lacks it, the file has none of them: one search instead of hundreds.
    beginnings = {text[:BEGINNING]: _forms(text[:BEGINNING]) for text in wanted}
    found = {}
    for file in list_database_files(database):
        content = file.read_bytes()
        likely = {begin for begin, forms in beginnings.items() if any(form in content for form in forms)}
        there = [
            text
            for text, forms in wanted.items()
            if text[:BEGINNING] in likely and any(form in content for form in forms)
        ]
        if there:
            found[file.name] = there
    return found


def _forms(text: str) -> tuple[bytes, ...]:
    return (text.encode(), text.encode("utf-16-le"), text.encode().hex().encode())


async def read_all_values(url: str) -> list[str]:
    """Return all values of all rows of the tables with sealed columns."""
    found: list[str] = []
    engine = create_writer(parse_database_url(url))
    async with engine.connect() as connection:
        for table in list_sealed_tables():
            rows = await connection.execute(text(f"SELECT * FROM {table.name}"))  # noqa: S608  names of our tables
            found += [str(value) for row in rows for value in row]
    await engine.dispose()
    return found
