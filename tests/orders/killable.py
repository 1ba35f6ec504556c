"""Processes that can die, hang or fail at each call of a port, before it did its work or after.

A step of a test carries a `Plan`: at which of its calls something happens, and what. A call that hangs waits until the
test lets it go on, while other processes and people act: so two processes meet at every moment at which they can.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.infra.db.errors import StoreDown
from tests.orders.crashing import Crash


class Fate(StrEnum):
    """What happens at a call."""

    GOES_ON = "goes on"
    HANGS = "hangs"
    DIES = "dies"
    FAILS = "fails"
    IS_ODD = "is odd"


@dataclass
class Plan:
    """What happens at the n-th call of a step; nothing at all others."""

    fates: Mapping[int, Fate] = field(default_factory=dict)
    calls: int = 0

    def next(self) -> Fate:
        self.calls += 1
        return self.fates.get(self.calls - 1, Fate.GOES_ON)


PLAN: ContextVar[Plan | None] = ContextVar("plan", default=None)


@dataclass(eq=False)
class Hanging:
    """A call that waits for the test."""

    process: "Mortal"
    what: str
    waits: "asyncio.Future[Fate]"

    def goes_on(self, fate: Fate = Fate.GOES_ON) -> None:
        if not self.waits.done():
            self.waits.set_result(fate)


@dataclass(eq=False)
class Mortal:
    """One process. What it calls after its death raises `Crash`, so that no clean-up of ours changes anything."""

    name: str
    hanging: list[Hanging]
    is_dead: bool = False

    async def reaches(self, what: str, *, may_hang: bool = True) -> Fate:
        """A moment at which something may happen; how the call goes on."""
        if self.is_dead:
            raise Crash
        plan = PLAN.get()
        fate = plan.next() if plan else Fate.GOES_ON
        if fate is Fate.HANGS and may_hang:
            waiting = Hanging(self, what, asyncio.get_running_loop().create_future())
            self.hanging.append(waiting)
            try:
                fate = await waiting.waits
            finally:
                self.hanging.remove(waiting)
        if fate is Fate.DIES:
            self.is_dead = True
        if self.is_dead:
            raise Crash
        return fate


class MortalStore:
    """A store that a process may die at, and that may fail before a commit or, what looks the same, after it."""

    def __init__(self, store: Any, process: Mortal) -> None:
        self._store = store
        self._process = process

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        if await self._process.reaches("transaction") is Fate.FAILS:
            raise StoreDown
        async with self._store.transaction() as tx:
            yield tx
            if await self._process.reaches("commit", may_hang=False) is Fate.FAILS:
                raise StoreDown
        if await self._process.reaches("committed") is Fate.FAILS:
            raise StoreDown

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        if await self._process.reaches("reading") is Fate.FAILS:
            raise StoreDown
        async with self._store.reading() as tx:
            yield tx

    def unreadable_rows(self) -> frozenset[str]:
        found: frozenset[str] = self._store.unreadable_rows()
        return found
