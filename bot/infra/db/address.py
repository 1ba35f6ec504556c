"""The database that `DATABASE_URL` names, parsed in one place for transactions, migrations and the leader."""

import os
import shutil
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.infra.db.errors import UnusableUrl

MEMORY = ":memory:"

SET_BY_KIRIM: Final = ("application_name", "client_encoding", "fallback_application_name", "keepalives")
"""How parameters begin that the bot sets itself, because leases rely on them."""

FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
SYSTEM: Final = "system"
"""The value of `sslrootcert` that means the system's certificate authorities."""

MAX_CONNECT_SECONDS: Final = 60


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
        return Address(url.set(drivername="postgresql+asyncpg"), connect_args=_read_connect_args(url))
    raise UnusableUrl("it must begin with sqlite:/// or postgresql://")


def _sqlite(name: str) -> Address:
    if not name:
        raise UnusableUrl("it is empty")
    temporary = name == MEMORY
    folder = Path(tempfile.mkdtemp(prefix="kirim-store-")) if temporary else Path()
    path = folder / "memory.db" if temporary else Path(name).expanduser().resolve()
    return Address(URL.create("sqlite+aiosqlite", database=str(path)), path, temporary)


def _read_connect_args(url: URL) -> dict[str, Any]:
    """Return what `asyncpg.connect` needs. It reads an address as libpq does, apart from what is done here.

    With `verify-full` and no `sslrootcert`, the system's authorities count. libpq would look for a file in the home
    folder, which a service rarely has. A parameter that the driver doesn't know is a setting for the server, which
    refuses those that it doesn't know.

    Raises:
        UnusableUrl: a parameter can't be used.
    """
    values = {name: each if isinstance(each, str) else ",".join(each) for name, each in url.query.items()}
    given = {name: each for name, each in values.items() if not name.startswith(SET_BY_KIRIM)}
    arguments: dict[str, Any] = {}
    if (seconds := given.pop("connect_timeout", None)) is not None:
        if not (seconds.isascii() and seconds.isdigit() and 1 <= int(seconds) <= MAX_CONNECT_SECONDS):
            raise UnusableUrl(f"connect_timeout must be 1 to {MAX_CONNECT_SECONDS} seconds")
        arguments["timeout"] = float(seconds)
    binds = given.pop("channel_binding", "prefer") not in {"disable", "prefer"}
    # The driver can't bind a password to a TLS connection. A checked certificate proves the same: nobody is between.
    if binds and given.get("sslmode") not in {"verify-ca", "verify-full"}:
        given["sslmode"] = "verify-full"
    if given.get("sslmode") == "verify-full":
        given.setdefault("sslrootcert", SYSTEM)
    for name in FILES:
        if name in given and given[name] != SYSTEM and not os.access(given[name], os.R_OK):
            raise UnusableUrl(f"{name} names a file that can't be read")
    if given.get("sslrootcert") == SYSTEM:
        del given["sslrootcert"]
        arguments["ssl"] = _trust_system(given)
    address = url.set(drivername="postgresql", query=given)
    return {**arguments, "dsn": address.render_as_string(hide_password=False)}


def _trust_system(given: Mapping[str, str]) -> ssl.SSLContext:
    """Return a TLS context that checks the server's certificate and name against the system's authorities."""
    if unread := given.keys() & {"sslcrl", "ssl_min_protocol_version", "ssl_max_protocol_version"}:
        raise UnusableUrl(f"{min(unread)} needs sslrootcert: the file with the provider's certificate authority")
    context = ssl.create_default_context()
    if "sslcert" in given:
        try:
            context.load_cert_chain(given["sslcert"], given.get("sslkey"), given.get("sslpassword", ""))
        except ssl.SSLError:
            raise UnusableUrl("sslcert and sslkey aren't a certificate and its key") from None
    return context
