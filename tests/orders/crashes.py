"""A bot that crashes at a chosen step: before a commit, before the POST, or before a message is sent.

`Crash` isn't an `Exception`, so no handler of the bot catches it. Later calls raise it again, because kill -9 ends all
tasks of a process.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.infra.db.database import Database
from bot.infra.outbox.model import RetryLater, Sent, StoredNotification, Undeliverable
from tests.orders.order_system import RecordingSender
from tests.settlement.fake_settlement import FakeSettlement, MovedClock


class Crash(BaseException):
    """kill -9."""


class CrashCountdown:
    """Count the steps of a bot, and crash after `remaining` of them. None never crashes."""

    def __init__(self, remaining: int | None) -> None:
        self.remaining = remaining
        self.steps = 0

    def step(self) -> None:
        """Count one step, or raise `Crash` if none remains."""
        self.steps += 1
        if self.remaining is not None:
            if self.remaining <= 0:
                raise Crash
            self.remaining -= 1


class CrashingStore:
    """A database that may crash before a commit.

    Nothing outside the bot changes between two commits or messages, so one crash between them is enough.
    """

    def __init__(self, store: Database, countdown: CrashCountdown) -> None:
        self._store = store
        self._countdown = countdown

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with self._store.transaction() as tx:
            yield tx
            self._countdown.step()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        async with self._store.reading() as tx:
            yield tx

    async def erase_deleted(self) -> bool:
        self._countdown.step()
        return await self._store.erase_deleted()

    def unreadable_keys(self, table: str) -> frozenset[str]:
        return self._store.unreadable_keys(table)

    def unreadable_rows(self) -> frozenset[str]:
        return self._store.unreadable_rows()

    def damaged_keys(self, table: str) -> frozenset[str]:
        return self._store.damaged_keys(table)

    def list_unknown(self, table: str) -> list[int]:
        return self._store.list_unknown(table)


class CrashingService:
    """The service, with a bot that may crash before it sends the POST."""

    def __init__(self, service: FakeSettlement, countdown: CrashCountdown) -> None:
        self._service = service
        self._countdown = countdown

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._service, name)

        async def place(request: Any, may_send: Any) -> Any:
            self._countdown.step()
            return await method(request, may_send)

        return place if name == "place" else method


class CrashingSender(RecordingSender):
    """A sender that may crash before it sends a message."""

    def __init__(self, clock: MovedClock, countdown: CrashCountdown, sent: list[Any]) -> None:
        super().__init__(clock, sent=sent)
        self._countdown = countdown

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        self._countdown.step()
        return await super().send(notification)
