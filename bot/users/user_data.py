"""What a feature does with the data that it stores about a user: show it, export it, delete it and prune it.

Each feature that owns a table with a user in it declares one `UserData` in its own module `user_data.py`.
Users' own modules call them without knowing what is in the tables.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator

Json = dict[str, object]

NOBODY: Final = 0
"""Replaces the id of a deleted user or chat. No user of Telegram has this id."""

MAX_LISTED: Final = 8
"""How many rows of one kind a message of `/privacy` lists. The file has them all."""


class StoredData:
    """What one feature stores about a user, as `/privacy` shows it.

    Every part is empty unless a feature overrides it.
    """

    def records(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about stored rows."""
        return ()

    def settings(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about what the user has set up. They follow the rows of all features."""
        return ()

    def counts(self, t: Translator) -> Mapping[str, Html]:  # noqa: ARG002  for the features that override it
        """Return what the question before a deletion counts: placeholder of `privacy.confirm` -> its text."""
        return {}

    def warnings(self, t: Translator) -> Sequence[str]:  # noqa: ARG002  for the features that override it
        """Return the paragraphs about what the user loses sight of by a deletion."""
        return ()


class Blocker(Protocol):
    """What has to end before a user can be deleted."""

    def notice(self, t: Translator) -> str:
        """Return the paragraph for the question before a deletion."""

    def details(self, t: Translator, now: datetime) -> str:
        """Return the paragraph for the deletion that waits: what it waits for, and why."""


Prune = Callable[[Transaction, datetime, timedelta | None, int], Awaitable[int]]
"""Delete what is too old and return how many rows that were.

The parameters after the transaction: now, how long the operator keeps personal data (None is forever), and how many
rows to delete at most. It is called again until it deletes fewer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What one feature does with the data of a user. What is None doesn't concern it.

    Every function runs in the caller's transaction.
    """

    feature: str
    """The package of the feature below `bot`."""

    delete_user: Callable[[Transaction, int, datetime], Awaitable[None]]
    """Delete what identifies the user, who has nothing open. The last parameter is now."""

    export_user: Callable[[Transaction, int], Awaitable[Json]] | None = None
    """Return the feature's sections of the exported file."""

    stored: Callable[[Transaction, int], Awaitable[StoredData]] | None = None
    """Return what `/privacy` shows of the feature's data."""

    has_any: Callable[[Transaction, int], Awaitable[bool]] | None = None
    """Return whether the user has left anything here that a second deletion would remove."""

    blocks_deletion: Callable[[Transaction, int], Awaitable[Blocker | None]] | None = None
    """Return what has to end first: while money is on its way, the user has to be reachable."""

    is_busy: Callable[[Transaction, int], Awaitable[bool]] | None = None
    """Return whether the user is in the middle of something. Then nothing is deleted without their doing it."""

    prune: Prune | None = None


def list_first(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and a mark that there are more."""
    return [*lines[:MAX_LISTED], "…"] if len(lines) > MAX_LISTED else list(lines)


def format_time(moment: datetime | None) -> str | None:
    """Return a time of the exported file: ISO 8601, in UTC."""
    return None if moment is None else moment.isoformat()
