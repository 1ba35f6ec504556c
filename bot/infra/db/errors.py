"""What can go wrong with the database, in words that carry no row, no address and no password.

::

    StoreError
    ├── UnusableUrl      the URL names no database that we can use
    ├── StoreFailure     the database refused or lost a statement; the transaction is undone
    │   ├── BrokenRule   the statement would have broken a rule of the tables
    │   └── BrokenSeal   a row can't be read
    └── SchemaMismatch   the tables are not those that this program expects
"""

from sqlalchemy.exc import DBAPIError, IntegrityError

from bot.core.reasons import database_reason, network_reason


class StoreDown(Exception):
    """The database failed: nothing of the transaction was kept, and it may be tried again."""


class RowUnreadable(StoreDown):
    """A row can't be read: it was changed or moved, or its key is gone. Trying again doesn't help."""

    table: str = ""
    """Which table the row is in."""

    @property
    def is_of_order(self) -> bool:
        """Whether the row is an order."""
        return self.table == "orders"

    @property
    def is_of_draft(self) -> bool:
        """Whether the row is a draft."""
        return self.table == "drafts"


class RuleBroken(StoreDown):
    """The database refused what would break a rule of its tables. Trying again doesn't help."""


LASTING = (RowUnreadable, RuleBroken)
"""Failures that stay the same however often the same is tried."""


class StoreError(Exception):
    """The database can't be used, or not as asked."""


class UnusableUrl(StoreError):
    """The URL names no database that we can use. The text never repeats it: it may hold a password."""


class StoreFailure(StoreError, StoreDown):
    """The database refused or lost a statement; the transaction around it is undone."""


class BrokenRule(StoreFailure, RuleBroken):
    """The statement would have broken a rule of the tables, such as one order for each payment hash."""


class BrokenSeal(StoreFailure, RowUnreadable):
    """A row can't be read: it was changed or moved, a value is malformed, or its key is not among ours."""


class SchemaMismatch(StoreError):
    """The tables are of another revision than the program's; None is a database without any.

    `is_newer`: a newer version of the program has upgraded them, so this one can't.
    """

    def __init__(self, found: str | None, expected: str, *, is_newer: bool) -> None:
        newer = ". A newer version of Kirim has upgraded the database" if is_newer else ""
        super().__init__(f"the schema is {found or 'none'}, expected {expected}{newer}")
        self.found = found
        self.expected = expected
        self.is_newer = is_newer


def failure(error: DBAPIError) -> StoreFailure:
    """Explain `error` by its code alone: the drivers' own texts quote rows, and so account numbers and names."""
    why = unreachable(error.orig or error)
    return BrokenRule(str(why)) if isinstance(error, IntegrityError) else why


def unreachable(error: BaseException) -> StoreFailure:
    """Explain why a database can't be used, without the words of its driver."""
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None)
    return StoreFailure(database_reason(code) if code else network_reason(error) or "the connection was lost")
