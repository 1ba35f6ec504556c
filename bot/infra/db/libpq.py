"""The parameters of a PostgreSQL address, as libpq and so every provider names them, for our driver asyncpg.

Each is passed on, set by the bot itself, or refused in one sentence. None is left out without a word in
`docs/settings.md`.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from sqlalchemy import URL

from bot.infra.db.errors import UnusableUrl

SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
WRITABLE: Final = ("any", "primary", "read-write")
"""The values of `target_session_attrs` that can lead to a server which accepts writes."""

CHANNEL_BINDINGS: Final = ("disable", "prefer", "require")
MAX_CONNECT_SECONDS: Final = 60

FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
PASSED_ON: Final = (*FILES, "sslpassword", "sslnegotiation", "ssl_min_protocol_version", "ssl_max_protocol_version")
"""The parameters of TLS that the driver reads from an address, besides `sslmode`."""

SET_BY_KIRIM: Final = frozenset(
    {"application_name", "fallback_application_name", "keepalives", "keepalives_idle", "keepalives_interval"}
    | {"keepalives_count", "client_encoding"}
)
"""The bot sets these itself, because leases rely on them."""

UNSUPPORTED: Final = frozenset(
    {"hostaddr", "service", "servicefile", "tcp_user_timeout", "gssencmode", "krbsrvname", "gsslib", "gssdelegation"}
    | {"sslcompression", "sslcertmode", "sslsni", "requirepeer", "requiressl", "require_auth", "load_balance_hosts"}
    | {"replication", "pgbouncer", "pool_timeout", "connection_limit", "uselibpqcompat", "schema"}
)
"""Names that are safe to repeat in a sentence. Any other could be a part of a password."""

SYSTEM: Final = "system"
"""The value of `sslrootcert` that means the system's certificate authorities."""


def read_connect_args(url: URL) -> dict[str, Any]:
    """Return what `asyncpg.connect` needs for this address.

    Raises:
        UnusableUrl: a parameter is unknown, or its value can't be used.
    """
    given: dict[str, str] = {
        name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()
    }
    # The driver reads several hosts, and hosts with their ports, only from an address.
    address: dict[str, str] = {name: given.pop(name) for name in ("host", "port") if name in given}
    if url.host and "," in url.host:
        address.setdefault("host", url.host)
    tls = _read_tls(given, address)
    arguments: dict[str, Any] = {
        "host": None if "host" in address else url.host,
        "port": None if "port" in address else url.port,
        "user": given.pop("user", url.username),
        "password": given.pop("password", url.password),
        "database": given.pop("dbname", url.database),
        "passfile": given.pop("passfile", None),
        "target_session_attrs": _choose(given, "target_session_attrs", WRITABLE),
        "timeout": _read_seconds(given.pop("connect_timeout", None)),
        "server_settings": {"options": given.pop("options")} if "options" in given else None,
        **tls,
    }
    for name in SET_BY_KIRIM:
        given.pop(name, None)
    if given:
        raise UnusableUrl(_refuse(next(iter(given)), list(url.query)))
    return {name: value for name, value in arguments.items() if value is not None}


def _read_tls(given: dict[str, str], address: Mapping[str, str]) -> dict[str, Any]:
    """Take the parameters of TLS out of `given`. Return the driver's arguments `dsn` and `ssl`. `address` is for `dsn`.

    With `verify-full` and no `sslrootcert`, the system's authorities count. libpq would look for a file in the home
    folder, which a service rarely has.
    """
    mode = _choose(given, "sslmode", SSL_MODES) or _choose(given, "ssl", SSL_MODES)
    # The driver can't bind a password to a TLS connection. A checked certificate proves the same: nobody is between.
    if _choose(given, "channel_binding", CHANNEL_BINDINGS) == "require" and mode not in {"verify-ca", "verify-full"}:
        mode = "verify-full"
    tls: dict[str, str] = {name: given.pop(name) for name in PASSED_ON if name in given}
    root = tls.get("sslrootcert")
    if root == SYSTEM or (root is None and mode == "verify-full"):
        if mode not in {None, "verify-full"}:
            raise UnusableUrl("sslrootcert=system needs sslmode=verify-full")
        tls.pop("sslrootcert", None)
        return {"dsn": _write_address(address), "ssl": _trust_system(tls)}
    if root is None and mode == "verify-ca":
        raise UnusableUrl("sslmode=verify-ca needs sslrootcert: the file with the provider's certificate authority")
    for name in FILES:
        _check_file(name, tls.get(name))
    return {"dsn": _write_address({**address, **({"sslmode": mode} if mode else {}), **tls})}


def _write_address(parameters: Mapping[str, str]) -> str | None:
    return f"postgresql://?{urlencode(parameters)}" if parameters else None


def _trust_system(tls: Mapping[str, str]) -> ssl.SSLContext:
    """Return a TLS context that checks the server's certificate and name against the system's authorities."""
    if unused := set(tls) - {"sslcert", "sslkey", "sslpassword"}:
        raise UnusableUrl(f"{min(unused)} needs sslrootcert: the file with the provider's certificate authority")
    context = ssl.create_default_context()
    if "sslcert" in tls:
        for name in ("sslcert", "sslkey"):
            _check_file(name, tls.get(name))
        try:
            context.load_cert_chain(tls["sslcert"], tls.get("sslkey"), tls.get("sslpassword", ""))
        except ssl.SSLError:
            raise UnusableUrl("sslcert and sslkey aren't a certificate and its key") from None
    return context


def _check_file(name: str, path: str | None) -> None:
    if path is None:
        return
    try:
        content = Path(path).read_bytes()
    except OSError:
        raise UnusableUrl(f"{name} names a file that can't be read") from None
    if name == "sslrootcert":
        try:
            ssl.create_default_context(cadata=content.decode("ascii"))
        except (ValueError, ssl.SSLError):
            raise UnusableUrl(f"{name} names a file without certificates (PEM)") from None


def _choose(given: dict[str, str], name: str, choices: tuple[str, ...]) -> str | None:
    value = given.pop(name, None)
    if value is not None and value not in choices:
        raise UnusableUrl(f"{name} must be one of: {', '.join(choices)}")
    return value


def _read_seconds(text: str | None) -> float | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_CONNECT_SECONDS):
        raise UnusableUrl(f"connect_timeout must be 1 to {MAX_CONNECT_SECONDS} seconds")
    return float(text)


def _refuse(name: str, names: list[str]) -> str:
    known = name if name in UNSUPPORTED else f"number {names.index(name) + 1}"
    return f"its parameter {known} isn't one that Kirim knows: take it out"
