"""Declare what is special about a feature's data of users. The rest follows from the marks on its columns.

`infra/db/columns.py` has the marks, and `infra/db/user_rows.py` goes by them: rows of users are exported, deleted and
pruned in every table. A feature that does more declares one `UserData` in its module `user_data.py`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import JsonObject, Keys
from bot.infra.i18n import Html, Translator

MAX_LISTED: Final = 8
"""How many rows of one kind a message of `/privacy` lists. The file has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredData:
    """What one feature stores about a user, as `/privacy` shows it."""

    key: str = ""
    """The text of how many rows there are. Its last part names the count in `users.privacy.confirm`."""

    count: int = 0

    first: Sequence[Any] = ()
    """The rows that are listed, up to `MAX_LISTED`."""

    format_line: Callable[[Translator, Any], str] | None = None
    """Returns the line about a row."""

    is_shown_empty: bool = False
    """Whether the count is shown if it is 0."""

    settings: Callable[[Translator], str] | None = None
    """Returns the paragraph about settings. It follows the rows of all features."""

    warnings: Sequence[tuple[str, Mapping[str, object]]] = ()
    """What the user can no longer see after a deletion: texts with their arguments."""

    def format_count(self, t: Translator) -> Html:
        """Return how many rows there are."""
        return t.plural(self.key, self.count)

    def format_rows(self, t: Translator) -> tuple[str, ...]:
        """Return the paragraph about the rows, if it is shown."""
        if not (self.count or self.is_shown_empty):
            return ()
        lines = [f"• {self.format_line(t, each)}" for each in self.first] if self.format_line else []
        return ("\n".join([self.format_count(t), *list_first(lines, self.count if lines else 0)]),)


class Blocker(Protocol):
    """What has to end before a user can be deleted."""

    def notice(self, t: Translator) -> str:
        """Return the paragraph for the question before a deletion."""

    def details(self, t: Translator, now: datetime) -> str:
        """Return the paragraph about a waiting deletion: what it waits for, and why."""


Export = Callable[[Transaction, Sequence[Keys]], Awaitable[Sequence[JsonObject]]]
"""Returns the rows with these primary keys for the exported file, without unreadable ones."""

Prune = Callable[[Transaction, datetime, timedelta | None, int], Awaitable[int]]
"""Deletes rows that are too old, and returns how many.

The parameters: the transaction, now, how long personal data is kept (None means forever), and the maximum of rows to
delete. It is called again until it deletes fewer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    """What is special about a feature's data of users. Functions that it doesn't need are None.

    Every function runs in the caller's transaction.
    """

    stored: Callable[[Transaction, int], Awaitable[StoredData]] | None = None
    """Returns what `/privacy` shows of the feature's data."""

    exports: Mapping[str, Export] = field(default_factory=dict)
    """Table -> the function that exports its rows, where users get something else than their columns."""

    blocks_deletion: Callable[[Transaction, int], Awaitable[Blocker | None]] | None = None
    """Returns what has to end first. During an open order the user must stay reachable."""

    begin_deletion: Callable[[Transaction, int, datetime], Awaitable[None]] | None = None
    """Ends at once, and for good, what can't wait until the user is deleted. The last parameter is now."""

    before_deletion: Callable[[Transaction, int, datetime], Awaitable[None]] | None = None
    """Does what needs the rows of the user, who has nothing open, just before they are deleted."""

    is_busy: Callable[[Transaction, int], Awaitable[bool]] | None = None
    """Returns whether the user is in a conversation. Then only the user can start the deletion."""

    prune: Prune | None = None
    """Prunes what the marks can't say."""


def list_first(lines: Sequence[str], count: int) -> list[str]:
    """Return the first lines of `count` in all, and "…" if there are more."""
    return [*lines[:MAX_LISTED], "…"] if count > MAX_LISTED else list(lines)


def format_time(moment: datetime | None) -> str | None:
    """Return a time for the exported file: ISO 8601, in UTC."""
    return None if moment is None else moment.isoformat()
