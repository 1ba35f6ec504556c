"""Errors of the database. Their texts contain no row, no address and no password.

::

    StoreError
    ├── UnusableUrl      the URL names no database that the bot can use
    ├── UnsuitableServer the server can't be used as it is set up
    ├── SchemaMismatch   the tables aren't those that this program expects
    └── StoreDown        the database rejected or lost a statement, and the transaction was rolled back
        ├── RuleBroken   the statement would have broken a rule of the tables
        └── RowUnreadable        a row can't be read
            └── UnknownValue     it holds a value that this version doesn't know

Those about keys are in `vault`. What only a command meets is beside that command.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from sqlalchemy.exc import DBAPIError, IntegrityError

from bot.core.reasons import database_reason, network_reason


class StoreError(Exception):
    """The database can't be used, or rejected a request."""


class UnusableUrl(StoreError):
    """The URL names no database that the bot can use. The text doesn't repeat the URL, which can contain a password."""


class UnsuitableServer(StoreError):
    """The server is too old, behind a pooler, or its clock or the privileges are wrong. The text says what to do."""


class StoreDown(StoreError):
    """The database failed. The transaction was rolled back and can be tried again."""


class RuleBroken(StoreDown):
    """The statement would have broken a rule of the tables, such as one order for each payment hash.

    Trying again doesn't help.
    """


class RowUnreadable(StoreDown):
    """A row can't be read: it was changed or moved, or a value is malformed in a way that no version writes.

    Trying again in this process doesn't help.
    """

    table: str = ""
    """The table of the row."""

    is_unknown: bool = False
    """Whether it holds a value that this version doesn't know. Such a row is never given up and never changed."""


class UnknownValue(RowUnreadable):
    """A row holds a value that this version doesn't know, because another version wrote it."""

    is_unknown = True


LAST_BEFORE_0_1_0: Final = "227a5386"
"""The last commit with the migrations of tables from before 0.1.0."""

LASTING = (RowUnreadable, RuleBroken)
"""Failures that don't go away when the same is tried again."""


class SchemaMismatch(StoreError):
    """The tables have another revision than the program expects.

    Args:
        found: the revision of the tables; None if there are no tables.
        known: the revisions that the program has migrations for, oldest first. It expects the last one.
    """

    fix: str
    """What to do about it, for the operator."""

    def __init__(self, found: str | None, known: Sequence[str]) -> None:
        self.found = found
        text = f"the schema is {found or 'none'}, expected {known[-1]}"
        if found is None or found in known:
            text = f"{text}. `kirim migrate` upgrades it"
            self.fix = "Run: kirim migrate"
        elif found < known[0]:
            text = f"it was made by a version before 0.1.0. The last commit that can read it is {LAST_BEFORE_0_1_0}"
            self.fix = "Choose an empty database."
        else:
            text = f"{text}. A newer version of Kirim has upgraded the database"
            self.fix = "Install the newest version of Kirim."
        super().__init__(text)


OF_PARAMETERS: Final = frozenset({"22023", "42601", "42704", "55P02"})
"""The errors (SQLSTATE) with which PostgreSQL refuses a setting of a new session."""


def is_about_parameters(error: BaseException) -> bool:
    """Return whether the driver or the server refused a parameter of the address while it connected."""
    own = getattr(error, "orig", None) or error
    return isinstance(own.__cause__ or own, ValueError) or getattr(own, "sqlstate", None) in OF_PARAMETERS


def translate_error(error: DBAPIError | sqlite3.Error) -> StoreDown:
    """Return the failure that `error` means. Use only its code: drivers' texts quote account numbers and names."""
    why = translate_connection_error(getattr(error, "orig", None) or error)
    return RuleBroken(str(why)) if isinstance(error, IntegrityError | sqlite3.IntegrityError) else why


def translate_connection_error(error: BaseException) -> StoreDown:
    """Return why the database can't be used, without the driver's text."""
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None)
    return StoreDown(database_reason(code) if code else network_reason(error) or "the connection was lost")
