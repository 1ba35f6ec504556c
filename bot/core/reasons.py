"""What can be said about an error: why a connection failed, and where an unexpected error was raised.

The texts of unexpected errors are left out: they can quote what a user wrote.
"""

import os
import socket
import ssl
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_DATABASE_CODES: Final = {
    "SQLITE_BUSY": "another program keeps the database locked",
    "SQLITE_CANTOPEN": "the file can't be opened, check its folder and permissions",
    "SQLITE_CORRUPT": "the file is damaged, restore a backup",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk can't be read or written",
    "SQLITE_LOCKED": "another program keeps the database locked",
    "SQLITE_NOTADB": "the file isn't an SQLite database",
    "SQLITE_READONLY": "the file can't be written, check its permissions",
    "08P01": "it is behind a connection pooler such as PgBouncer, which Kirim can't use: connect to PostgreSQL itself",
    "25006": "it only takes reads now",
    "28000": "the user isn't allowed to connect",
    "28P01": "the user or the password is wrong",
    "3D000": "the server has no database of this name",
    "42501": "the user isn't allowed to do this",
    "53100": "the server's disk is full",
    "53300": "the server has too many connections",
    "57P01": "the server is shutting down",
    "57P03": "the server is starting or stopping",
}


def database_reason(code: str) -> str:
    """Explain an error code of SQLite or PostgreSQL. The text repeats the code, for a search."""
    general = "_".join(code.split("_")[:2])  # SQLITE_CANTOPEN_ISDIR is a case of SQLITE_CANTOPEN
    return f"{_DATABASE_CODES.get(code) or _DATABASE_CODES.get(general) or 'the database reported an error'} ({code})"


def network_reason(error: BaseException) -> str:
    """Explain why a connection failed, from `error` and its causes. Return an empty string if the cause is unknown.

    The errors' own texts are never quoted: they can hold an address with a token or a password. The name of a file
    that can't be read holds neither.
    """
    errors = list(_chain(error))
    for each in errors:
        match each:
            case ssl.SSLCertVerificationError():
                return f"the certificate isn't valid ({each.verify_message})"
            case ssl.SSLError():
                return "the encrypted connection (TLS) failed"
            case socket.gaierror():
                return "there is no host of this name"
    for each in errors:
        if isinstance(each, OSError) and each.errno:
            reason = os.strerror(each.errno).lower()
            return f"{reason}: {each.filename}" if isinstance(each.filename, str) else reason
    return "no answer in time" if any(isinstance(each, TimeoutError) for each in errors) else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    behind: BaseException | None = error
    while behind is not None:
        yield behind
        behind = behind.__cause__ or behind.__context__


def find_location(error: BaseException) -> str:
    """Return file and line of the innermost frame, such as "card.py:42". Empty for an error that was never raised."""
    return next(iter(list_frames(error, 1)), "")


def list_frames(error: BaseException, limit: int) -> list[str]:
    """Return file and line of up to `limit` frames, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in found[-limit:]]
