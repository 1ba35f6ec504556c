"""A process that dies at a chosen moment: before a commit, before the POST, or before a message is sent.

`Crash` is no `Exception`, so nothing in the house can survive it; and whoever calls after it dies as well, as all
tasks of a killed process do.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.infra.db.database import Database
from bot.infra.outbox.model import RetryLater, Sent, StoredNotification, Undeliverable
from tests.orders.order_world import Ears
from tests.settlement.fake_settlement import FakeSettlement, MovedClock


class Crash(BaseException):
    """kill -9."""


class Fuse:
    """Burns down by one at each such moment; None never ends."""

    def __init__(self, left: int | None) -> None:
        self.left = left
        self.burnt = 0

    def burn(self) -> None:
        self.burnt += 1
        if self.left is not None:
            if self.left <= 0:
                raise Crash
            self.left -= 1


class FusedStore:
    """A store that may crash before a commit.

    To the world all moments between one commit or message and the next are the same one. So each is tried once.
    """

    def __init__(self, store: Database, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        async with self._store.transaction() as tx:
            yield tx
            self._fuse.burn()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        async with self._store.reading() as tx:
            yield tx

    async def erase(self) -> bool:
        self._fuse.burn()
        return await self._store.erase()

    def unreadable_rows(self) -> frozenset[str]:
        return self._store.unreadable_rows()


class FusedService:
    """The service behind a line that may die with the process before the POST goes out."""

    def __init__(self, service: FakeSettlement, fuse: Fuse) -> None:
        self._service = service
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        request = getattr(self._service, name)

        async def place(wish: Any) -> Any:
            self._fuse.burn()
            return await request(wish)

        return place if name == "place" else request


class FusedEars(Ears):
    """Ears whose speaker may die before the message is sent."""

    def __init__(self, clock: MovedClock, fuse: Fuse, heard: list[Any]) -> None:
        super().__init__(clock, heard=heard)
        self._fuse = fuse

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        self._fuse.burn()
        return await super().send(notification)
