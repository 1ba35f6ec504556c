"""Count the bot's transactions in the process of the tests, and compare them with the budget in `docs/benchmarks.md`.

Counted is what an order causes. The rounds of workers aren't, because their number depends on time, except those that
write for a chat. Each result of a message counts, also if several arrive together and one transaction saves them.
A step ends when the bot has nothing left to do for it.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

import bot
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.outbox import delivery

PACKAGE: Final = Path(bot.__file__).parent
DOCUMENT: Final = PACKAGE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- transactions:begin -->", "<!-- transactions:end -->"
OPENERS: Final = {"transaction": True, "keeping": True, "reading": False}
"""The methods of `Database` that open a transaction -> whether it writes."""

ROUND: Final = "run_forever"
"""The function that calls the rounds of every worker."""

COUNTED_WORKERS: Final = frozenset({"chats", "poller", "outbox"})
"""Workers whose rounds are counted if they write: they claim chats, save reports about orders, and mark messages."""

STATEMENT_LENGTH: Final = 160
REASONS: Final = re.compile(r";\s*")


@dataclass(frozen=True, slots=True)
class Budget:
    """What a step may cost: the reason of each transaction."""

    writes: tuple[str, ...]
    reads: tuple[str, ...]

    def __add__(self, other: "Budget") -> "Budget":
        """Return the budget of both together."""
        return Budget(self.writes + other.writes, self.reads + other.reads)


@dataclass(frozen=True, slots=True)
class Counted:
    """A transaction: the functions that led to it, from the inside out, and its statements so far."""

    functions: Sequence[str]
    task: str
    is_write: bool
    statements: list[object] = field(default_factory=list)

    @property
    def is_counted(self) -> bool:
        """Whether it belongs to an order, and not to a worker's regular rounds."""
        return ROUND not in self.functions or (self.is_write and self.task in COUNTED_WORKERS)

    def __str__(self) -> str:
        """Return what a reader of a failed test needs to find it."""
        kind = "write" if self.is_write else "read"
        statements = (" ".join(str(each).split())[:STATEMENT_LENGTH] for each in self.statements)
        return "\n    ".join((f"{kind} by {' < '.join(self.functions[:3])} ({self.task})", *statements))


class RecordedConnection:
    """Passes everything on to a connection, and records its statements."""

    def __init__(self, connection: Any, statements: list[object]) -> None:
        self._connection, self._statements = connection, statements

    def __getattr__(self, name: str) -> Any:
        """Return the connection's attribute. A method that executes a statement records it first."""
        found = getattr(self._connection, name)
        if name not in {"execute", "scalar", "scalars"}:
            return found

        def execute(statement: object, *arguments: Any, **options: Any) -> Any:
            self._statements.append(statement)
            return found(statement, *arguments, **options)

        return execute


class TransactionCounter:
    """Counts transactions by the steps of an order. `wait_until_idle` returns when the bot has nothing left to do."""

    def __init__(self, wait_until_idle: Callable[[], Awaitable[None]]) -> None:
        self._wait_until_idle = wait_until_idle
        self._all: list[Counted] = []
        self.steps: dict[str, list[Counted]] = {}

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator[None]:
        """Count the transactions of the block and of what follows from it, as one step."""
        await self._wait_until_idle()
        before = len(self._all)
        yield
        await self._wait_until_idle()
        self.steps[name] = [each for each in self._all[before:] if each.is_counted]

    def assert_within(self, budgets: Mapping[str, Budget]) -> None:
        """Assert that each step made as many transactions as its budget has.

        A step that makes fewer needs a smaller budget, so that the document stays true.
        """
        wrong = [_describe(name, self.steps[name], budget) for name, budget in budgets.items()]
        assert not any(wrong), "\n\n".join(filter(None, wrong))

    def add(self, counted: Counted) -> None:
        """Add a transaction that begins."""
        self._all.append(counted)


def _describe(step: str, counted: Sequence[Counted], budget: Budget) -> str:
    """Return what differs from the budget, or an empty text."""
    writes = sum(each.is_write for each in counted)
    found, allowed = (writes, len(counted) - writes), (len(budget.writes), len(budget.reads))
    if found == allowed:
        return ""
    return "\n  ".join(
        (
            f"{step}: {found[0]} writes and {found[1]} reads; {DOCUMENT.name} has {allowed[0]} and {allowed[1]}",
            *map(str, counted),
            f"writes in {DOCUMENT.name}: {'; '.join(budget.writes)}",
            f"reads in {DOCUMENT.name}: {'; '.join(budget.reads)}",
        )
    )


@contextmanager
def counting_transactions(wait_until_idle: Callable[[], Awaitable[None]]) -> Iterator[TransactionCounter]:
    """Count the transactions of every database in this process."""
    counter = TransactionCounter(wait_until_idle)

    def recorded(opener: Callable[[Database], AbstractAsyncContextManager[Transaction]], *, is_write: bool) -> object:
        @asynccontextmanager
        async def opened(database: Database) -> AsyncIterator[Transaction]:
            task = asyncio.current_task()
            counted = Counted(tuple(_list_functions(sys._getframe())), task.get_name() if task else "", is_write)
            counter.add(counted)
            async with opener(database) as tx:
                connection: Any = RecordedConnection(tx.connection, counted.statements)
                yield replace(tx, connection=connection)

        return opened

    with pytest.MonkeyPatch.context() as patch:
        for name, is_write in OPENERS.items():
            patch.setattr(Database, name, recorded(getattr(Database, name), is_write=is_write))
        patch.setattr(delivery, "RESULTS_AT_ONCE", 1)
        yield counter


def _list_functions(frame: FrameType | None) -> Iterator[str]:
    """Yield the bot's functions that led here, the innermost first."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(f"{PACKAGE}{os.sep}"):
            yield frame.f_code.co_qualname
        frame = frame.f_back


def read_budgets() -> dict[str, Budget]:
    """Return the budget of each step in the document.

    Raises:
        ValueError: a row doesn't have one reason for each transaction.
    """
    _, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    table = [line for line in rest.partition(END)[0].splitlines() if line.startswith("|")]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table[2:])
    budgets = {}
    for step, writes, write_reasons, reads, read_reasons in rows:
        budget = Budget(_split(write_reasons), _split(read_reasons))
        if (str(len(budget.writes)), str(len(budget.reads))) != (writes, reads):
            raise ValueError(f"{step}: {writes} and {reads} transactions need as many reasons, divided by semicolons")
        budgets[step] = budget
    return budgets


def _split(reasons: str) -> tuple[str, ...]:
    return tuple(REASONS.split(reasons)) if reasons.strip() else ()
