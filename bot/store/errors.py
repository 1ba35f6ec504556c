"""What can go wrong with the database, in words that carry no row, no address and no password.

::

    StoreError
    ├── UnusableUrl      the URL names no database that we can use
    ├── StoreFailure     the database refused or lost a statement; the transaction is undone
    │   └── BrokenSeal   a sealed text doesn't open in its place
    └── SchemaMismatch   the tables are not those that this program expects
"""

from sqlalchemy.exc import DBAPIError

from bot.actions.ports import RowUnreadable, StoreDown


class StoreError(Exception):
    """The database can't be used, or not as asked."""


class UnusableUrl(StoreError):
    """The URL names no database that we can use. The text never repeats it: it may hold a password."""


class StoreFailure(StoreError, StoreDown):
    """The database refused or lost a statement; the transaction around it is undone."""


class BrokenSeal(StoreFailure, RowUnreadable):
    """A sealed text doesn't open in its place: it was changed or moved, or its key is not among ours."""


class SchemaMismatch(StoreError):
    """The tables are of another revision than the program's; None is a database without any."""

    def __init__(self, found: str | None, expected: str) -> None:
        super().__init__(f"the database is at revision {found or 'none'}, the program expects {expected}")
        self.found = found
        self.expected = expected


def failure(error: DBAPIError) -> StoreFailure:
    """`error` by its kind alone: the drivers' own texts quote rows, and so account numbers and names."""
    cause = error.orig
    kind = type(cause).__name__ if cause is not None else type(error).__name__
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    return StoreFailure(f"{kind} {code}" if code else kind)
