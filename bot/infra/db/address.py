"""The database that `DATABASE_URL` names, parsed in one place for transactions, migrations and the leader."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.infra.db.errors import UnusableUrl
from bot.infra.db.libpq import read_connect_args

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Address:
    """A database: its URL, the path of its file if it is SQLite, and else what `asyncpg.connect` needs."""

    url: URL
    path: Path | None = None
    is_temporary: bool = False
    connect_args: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.path is not None

    def delete_temporary(self) -> None:
        """Delete a temporary database with its folder. Keep any other."""
        if self.path is not None and self.is_temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def __repr__(self) -> str:
        """Return the URL without its password, and without parameters, which can have one, too."""
        return f"Address({self.url.set(query={}).render_as_string(hide_password=True)})"


def parse_database_url(database_url: str) -> Address:
    """Return the database that `database_url` means: `sqlite:///path`, a plain path, `postgresql://` or `postgres://`.

    `:memory:` is a file in a new temporary folder, which `Database.close` deletes. It is a file because we need several
    connections, and because tests should meet the same locks as production.

    Raises:
        UnusableUrl: the URL is none of these, or has a parameter that we can't use.
    """
    if "://" not in database_url:
        return _sqlite(database_url)
    try:
        url = make_url(database_url)
    except (ArgumentError, ValueError):
        raise UnusableUrl("it isn't a database URL") from None
    kind = url.drivername.partition("+")[0]
    if kind == "sqlite":
        return _sqlite(url.database or MEMORY)
    if kind in {"postgresql", "postgres"}:
        return Address(url.set(drivername="postgresql+asyncpg"), connect_args=read_connect_args(url))
    raise UnusableUrl("it must begin with sqlite:/// or postgresql://")


def _sqlite(name: str) -> Address:
    if not name:
        raise UnusableUrl("it is empty")
    temporary = name == MEMORY
    folder = Path(tempfile.mkdtemp(prefix="kirim-store-")) if temporary else Path()
    path = folder / "memory.db" if temporary else Path(name).expanduser().resolve()
    return Address(URL.create("sqlite+aiosqlite", database=str(path)), path, temporary)
