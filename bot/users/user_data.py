"""Declare how a feature shows, exports, deletes and prunes what it stores about users.

Each feature that owns a table with a user in it declares one `UserData` in its own module `user_data.py`.
`privacy.py` and `workers.py` call them without knowing the tables.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from sqlalchemy import ColumnElement, Table, func, select

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Features
from bot.infra.i18n import Html, Translator

JsonObject = dict[str, object]

NOBODY: Final = 0
"""The id that replaces that of a deleted user or chat. No Telegram user has it."""

MAX_LISTED: Final = 8
"""How many rows of one kind a message of `/privacy` lists. The file has all."""

PAGE: Final = 20
"""How many rows are read and decrypted at once. Some kinds of rows take a millisecond each."""


class StoredData:
    """What one feature stores about a user, as `/privacy` shows it.

    A feature overrides the parts that it needs. The others are empty.
    """

    def records(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about stored rows."""
        return ()

    def settings(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about settings. They follow the records of all features."""
        return ()

    def counts(self, t: Translator) -> Mapping[str, Html]:  # noqa: ARG002  for the features that override it
        """Return the counts in the question before a deletion: placeholder of `users.privacy.confirm` -> its text."""
        return {}

    def warnings(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about what the user can no longer see after a deletion."""
        return ()


class Blocker(Protocol):
    """What has to end before a user can be deleted."""

    def notice(self, t: Translator) -> str:
        """Return the paragraph for the question before a deletion."""

    def details(self, t: Translator, now: datetime) -> str:
        """Return the paragraph about a waiting deletion: what it waits for, and why."""


Prune = Callable[[Transaction, datetime, timedelta | None, int], Awaitable[int]]
"""Deletes rows that are too old, and returns how many.

The parameters: the transaction, now, how long personal data is kept (None means forever), and the maximum of rows to
delete. It is called again until it deletes fewer.
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a user that can be many. The database counts them, and they are read in pages."""

    table: Table
    """The table. Its column `user_id` says whose a row is."""

    export: Callable[[Transaction, int, int, int], Awaitable[Sequence[object]]]
    """Returns a page of rows for the exported file, without unreadable ones.

    The parameters: the transaction, the user, the maximum of rows, and how many to skip.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """How one feature handles the data of a user. Functions that it doesn't need are None.

    Every function runs in the caller's transaction.
    """

    feature: str
    """The package of the feature below `bot`."""

    delete_user: Callable[[Transaction, int, datetime], Awaitable[None]]
    """Deletes what identifies the user, who has nothing open. The last parameter is now."""

    rows: Mapping[str, Rows] = field(default_factory=dict)
    """The feature's rows that can be many, by their section of the exported file."""

    export_user: Callable[[Transaction, int], Awaitable[JsonObject]] | None = None
    """Returns the feature's other sections of the exported file."""

    stored: Callable[[Transaction, int], Awaitable[StoredData]] | None = None
    """Returns what `/privacy` shows of the feature's data."""

    has_any: Callable[[Transaction, int], Awaitable[bool]] | None = None
    """Returns whether the feature stores anything else that a second deletion would remove."""

    blocks_deletion: Callable[[Transaction, int], Awaitable[Blocker | None]] | None = None
    """Returns what has to end first. During an open order the user must stay reachable."""

    begin_deletion: Callable[[Transaction, int, datetime], Awaitable[None]] | None = None
    """Ends at once, and for good, what can't wait until the user is deleted. The last parameter is now."""

    is_busy: Callable[[Transaction, int], Awaitable[bool]] | None = None
    """Returns whether the user is in a conversation. Then only the user can start the deletion."""

    prune: Prune | None = None


def list_user_data(features: Features) -> list[UserData]:
    """Return what each feature does with a user's data, in their order."""
    return [feature.user_data for feature in features if feature.user_data is not None]


async def count_rows(tx: Transaction, table: Table, user_id: int, *conditions: ColumnElement[bool]) -> int:
    """Return how many rows of a table belong to a user and meet the conditions, also unreadable ones."""
    counted = select(func.count()).select_from(table).where(table.c.user_id == user_id, *conditions)
    return (await tx.connection.execute(counted)).scalar_one()


def list_first(lines: Sequence[str], count: int) -> list[str]:
    """Return the first lines of `count` in all, and "…" if there are more."""
    return [*lines[:MAX_LISTED], "…"] if count > MAX_LISTED else list(lines)


def format_time(moment: datetime | None) -> str | None:
    """Return a time for the exported file: ISO 8601, in UTC."""
    return None if moment is None else moment.isoformat()
