"""The database that `DATABASE_URL` names, parsed in one place for transactions, migrations and the leader."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.infra.db.errors import UnusableUrl

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Address:
    """A database: the driver's URL, and the path of its file if it is SQLite."""

    url: URL
    path: Path | None = None
    is_temporary: bool = False

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.path is not None

    def delete_temporary(self) -> None:
        """Delete a temporary database with its folder. Keep any other."""
        if self.path is not None and self.is_temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def __repr__(self) -> str:
        """Return the URL without its password."""
        return f"Address({self.url.render_as_string(hide_password=True)})"


def parse_database_url(database_url: str) -> Address:
    """Return the database that `database_url` means: `sqlite:///path`, a plain path, `postgresql://` or `postgres://`.

    `:memory:` is a file in a new temporary folder, which `Database.close` deletes. It is a file because we need several
    connections, and because tests should meet the same locks as production.

    Raises:
        UnusableUrl: the URL is none of these.
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
        return Address(_with_ssl(url.set(drivername="postgresql+asyncpg")))
    raise UnusableUrl("it must begin with sqlite:/// or postgresql://")


def _sqlite(name: str) -> Address:
    if not name:
        raise UnusableUrl("it is empty")
    temporary = name == MEMORY
    folder = Path(tempfile.mkdtemp(prefix="kirim-store-")) if temporary else Path()
    path = folder / "memory.db" if temporary else Path(name).expanduser().resolve()
    return Address(URL.create("sqlite+aiosqlite", database=str(path)), path, temporary)


def _with_ssl(url: URL) -> URL:
    """Rename `sslmode` to `ssl`: hosts of PostgreSQL use the first name, and the driver the second."""
    mode = url.query.get("sslmode")
    if mode is None:
        return url
    return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
