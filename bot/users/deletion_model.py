"""What the use cases need of a database to forget: people who wish it, and what is older than it has to be."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from datetime import datetime
from typing import Protocol


class Forgetting(Protocol):
    """Deletes across tables. Orders are never deleted: they keep their skeleton, without person and recipient."""

    async def leaving(self, limit: int = 100, skipped: int = 0) -> tuple[int, ...]:
        """The persons who wish to be forgotten, the longest waiting first, without the first `skipped`."""
        ...

    async def away(self, blocked_before: datetime, limit: int = 100) -> tuple[int, ...]:
        """The persons who blocked the bot before, and haven't come back."""
        ...

    async def has_news_to_tell(self, chat_id: int) -> bool: ...
    async def person(self, person_id: int) -> bool:
        """Forget all of a person; whether there was one. Their orders must have ended."""
        ...

    async def recipients_of_orders(self, before: datetime, limit: int) -> int:
        """Take the recipients out of orders that ended before; how many orders that were."""
        ...

    async def never_shown_orders(self, before: datetime, limit: int) -> int:
        """Delete unpaid orders that were refused or never shown, and created before; how many they were."""
        ...

    async def closed_drafts(self, before: datetime, limit: int) -> int:
        """Delete drafts that were closed and would have lapsed before; how many they were."""
        ...

    async def deliveries(self, ended_before: datetime, limit: int) -> int:
        """Delete the ledgers of broadcasts that ended before; how many rows. Their reports stay."""
        ...

    async def entries_of_tickets(self, closed_before: datetime, limit: int) -> int:
        """Delete what was written in tickets that were closed before; how many entries. The tickets stay."""
        ...

    async def farewells(self) -> int:
        """Delete farewells that were told or can't be; how many they were."""
        ...
