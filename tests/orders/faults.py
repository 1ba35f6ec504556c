"""Processes that are killed, hang or fail at a chosen call, before or after it took effect.

A step of a test has a `FaultPlan`: at which of its calls a fault happens, and which fault. A call that hangs waits
until the test resumes it, while other processes and users act. So two processes can overlap at every call.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.infra.db.errors import StoreDown
from tests.orders.crashes import Crash


class Fault(StrEnum):
    """What goes wrong at a call."""

    NONE = "none"
    HANG = "hang"
    KILL = "kill"
    FAIL = "fail"
    ODD_ANSWER = "odd answer"


@dataclass
class FaultPlan:
    """The faults of a step, by the number of its call."""

    faults: Mapping[int, Fault] = field(default_factory=dict)
    calls: int = 0

    def next(self) -> Fault:
        """Count a call, and return its fault."""
        self.calls += 1
        return self.faults.get(self.calls - 1, Fault.NONE)


FAULT_PLAN: ContextVar[FaultPlan | None] = ContextVar("fault_plan", default=None)


@dataclass(eq=False)
class HangingCall:
    """A call that waits until the test resumes it."""

    process: "KillableProcess"
    name: str
    fault: "asyncio.Future[Fault]"

    def resume(self, fault: Fault = Fault.NONE) -> None:
        """Let the call continue with a fault."""
        if not self.fault.done():
            self.fault.set_result(fault)


@dataclass(eq=False)
class KillableProcess:
    """A process that can be killed. Its later calls raise `Crash`, so that clean-up code can't change anything."""

    name: str
    hanging_calls: list[HangingCall]
    is_dead: bool = False

    async def await_fault(self, call: str, *, may_hang: bool = True) -> Fault:
        """Return the fault of a call. Wait while the call hangs, and raise `Crash` if the process is killed."""
        if self.is_dead:
            raise Crash
        plan = FAULT_PLAN.get()
        fault = plan.next() if plan else Fault.NONE
        if fault is Fault.HANG and may_hang:
            hanging_call = HangingCall(self, call, asyncio.get_running_loop().create_future())
            self.hanging_calls.append(hanging_call)
            try:
                fault = await hanging_call.fault
            finally:
                self.hanging_calls.remove(hanging_call)
        if fault is Fault.KILL:
            self.is_dead = True
        if self.is_dead:
            raise Crash
        return fault


class KillableStore:
    """The database as a killable process uses it. It may fail before a commit or after it: both raise the same."""

    def __init__(self, store: Any, process: KillableProcess) -> None:
        self._store = store
        self._process = process

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        if await self._process.await_fault("transaction") is Fault.FAIL:
            raise StoreDown
        async with self._store.transaction() as tx:
            yield tx
            if await self._process.await_fault("commit", may_hang=False) is Fault.FAIL:
                raise StoreDown
        if await self._process.await_fault("committed") is Fault.FAIL:
            raise StoreDown

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        if await self._process.await_fault("reading") is Fault.FAIL:
            raise StoreDown
        async with self._store.reading() as tx:
            yield tx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
