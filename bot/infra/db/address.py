"""Which database `DATABASE_URL` means, told once and the same for the store, the migrations and the leader."""

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
    """A database: the driver's URL, and its file where it is SQLite."""

    url: URL
    path: Path | None = None
    is_temporary: bool = False

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of ours."""
        return self.path is not None

    def forget(self) -> None:
        """Delete a temporary database, with its folder; any other is left alone."""
        if self.path is not None and self.is_temporary:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def __repr__(self) -> str:
        """Without the password."""
        return f"Address({self.url.render_as_string(hide_password=True)})"


def address(database_url: str) -> Address:
    """Return the database that `database_url` means: `sqlite:///path`, a plain path, `postgresql://` or `postgres://`.

    `:memory:` is a file of its own in a new folder under the system's temporary one: several connections
    are needed, and a test should meet the same locks as the real thing. Closing the store deletes it.

    Raises:
        UnusableUrl: it is none of these.
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
    """Return the driver has another name for what every PostgreSQL host calls `sslmode`."""
    mode = url.query.get("sslmode")
    if mode is None:
        return url
    return url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
