"""What stands in a database's rows, and in its files byte by byte."""

from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import text

from bot.infra.db.address import parse_database_url
from bot.infra.db.encryption import list_sealed_tables
from bot.infra.db.engine import create_writer

BEGINNING = 5


def files_of(database: str | Path) -> list[Path]:
    """All files of an SQLite database: itself, its log, its index, its lock."""
    path = Path(str(database).removeprefix("sqlite:///"))
    return sorted(each for each in path.parent.iterdir() if each.name.startswith(path.name))


def found_in(database: str | Path, texts: Iterable[str]) -> dict[str, list[str]]:
    """File -> which of `texts` stand in it, as UTF-8, as UTF-16 or in hexadecimal."""
    wanted = {text: _forms(text) for text in texts}
    # Most texts begin alike, and where their beginning doesn't stand, none of them does: one look instead of hundreds.
    beginnings = {text[:BEGINNING]: _forms(text[:BEGINNING]) for text in wanted}
    found = {}
    for file in files_of(database):
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


async def every_text(url: str) -> list[str]:
    """All that stands in any column of any row of the tables with sealed columns."""
    found: list[str] = []
    engine = create_writer(parse_database_url(url))
    async with engine.connect() as connection:
        for table in list_sealed_tables():
            rows = await connection.execute(text(f"SELECT * FROM {table.name}"))  # noqa: S608  names of ours
            found += [str(value) for row in rows for value in row]
    await engine.dispose()
    return found
