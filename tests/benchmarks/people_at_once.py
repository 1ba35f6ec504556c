"""(a) Many users at once, each step waiting 300 ms for the service: our queues compared with python-telegram-bot alone.

The skeleton, the service and the offline Telegram are the same in all runs. "Sequential" is python-telegram-bot's
default, and "concurrent" is `concurrent_updates(256)`. Ours commits each update to the inbox, and then uses the queues.
"""

import asyncio
import itertools
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from telegram import Update

from bot.core.clock import SystemClock
from bot.infra.db.database import Database
from bot.infra.telegram.inbound.chat_queues import ChatQueues
from bot.infra.telegram.inbound.receiver import Receiver, UpdateIntake
from tests.benchmarks import skeleton
from tests.benchmarks.report import Row, Spread, seconds
from tests.benchmarks.skeleton import App, Json
from tests.infra.keys import VAULT

SERVICE_SECONDS = 0.3
PEOPLE, FEW_PEOPLE = 200, 20
CONCURRENT = 256
RETRY_SECONDS = 0.05
FIRST_ID = 10_000

Submit = Callable[[Json], Awaitable[None]]
Opened = AbstractAsyncContextManager[App]


@dataclass(slots=True)
class Users:
    """Users of a bot. They write, and record when the bot answers."""

    submit: Submit | None = None
    answered_at: dict[int, asyncio.Queue[float]] = field(default_factory=lambda: defaultdict(asyncio.Queue))
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def record_answer(self, chat_id: int) -> None:
        """Record an answer of the bot to a chat."""
        self.answered_at[chat_id].put_nowait(time.perf_counter())

    async def say(self, chat_id: int, text: str) -> float:
        """Write to the bot. Return the time."""
        if self.submit is None:
            raise RuntimeError("the bot is not there yet")
        sent_at = time.perf_counter()
        await self.submit(skeleton.update(next(self.numbers), chat_id, text))
        return sent_at

    async def write_after_answers(self, chat_id: int, texts: Sequence[str]) -> list[float]:
        """Write each text after the answer to the one before. Return the answer times."""
        times = []
        for text in texts:
            sent_at = await self.say(chat_id, text)
            times.append(await self.answered_at[chat_id].get() - sent_at)
        return times

    async def write_at_once(self, chat_id: int, texts: Sequence[str]) -> None:
        """Write all texts without waiting for answers. Return when the bot has stopped answering."""
        for text in texts:
            await self.say(chat_id, text)
            await asyncio.sleep(RETRY_SECONDS)
        with suppress(TimeoutError):
            for _ in texts:
                await asyncio.wait_for(self.answered_at[chat_id].get(), 10 * SERVICE_SECONDS)


@asynccontextmanager
async def open_plain(users: Users, concurrent: int) -> AsyncIterator[App]:
    """Run python-telegram-bot alone. With 0 it handles one update at a time, which is its default."""
    application = skeleton.offline(users.record_answer, SERVICE_SECONDS, concurrent=concurrent)
    async with application:
        await application.start()

        async def submit(update: Json) -> None:
            await application.update_queue.put(Update.de_json(update, application.bot))

        users.submit = submit
        yield application
        await application.stop()


@asynccontextmanager
async def open_ours(users: Users, folder: Path) -> AsyncIterator[App]:
    """Run the same skeleton behind our receiver, inbox and queues."""
    application = skeleton.offline(users.record_answer, SERVICE_SECONDS)
    store, feed, clock = Database(f"sqlite:///{folder / 'inbox.db'}", VAULT), _Feed(), SystemClock()
    await store.upgrade()
    async with application:
        queues = ChatQueues(store, application.process_update, clock, application.bot)
        receiving = asyncio.create_task(Receiver(feed, UpdateIntake(store, queues, clock)).run())
        users.submit = feed.arrived.put
        yield application
        receiving.cancel()
        await queues.drain()
        await store.close()


class _Feed:
    def __init__(self) -> None:
        self.arrived: asyncio.Queue[Json] = asyncio.Queue()

    async def fetch(self, offset: int | None) -> Sequence[Json]:
        del offset
        batch = [await self.arrived.get()]
        while len(batch) < 100 and not self.arrived.empty():
            batch.append(self.arrived.get_nowait())
        return batch


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    people = FEW_PEOPLE if quick else PEOPLE
    alone = Spread.from_times(await _answer_times(_queues, 1, skeleton.TEXTS * 2))
    plain_alone = Spread.from_times(await _answer_times(_sequential, 1, skeleton.TEXTS * 2))
    at_once = Spread.from_times(await _answer_times(_queues, people, skeleton.TEXTS))
    concurrent = Spread.from_times(await _answer_times(_concurrent, people, skeleton.TEXTS))
    # One step is enough: it takes a minute, because each user waits for all users before them.
    sequential = Spread.from_times(await _answer_times(_sequential, people, skeleton.TEXTS[:1]))
    what = f"{people} people at once, {seconds(SERVICE_SECONDS)} of service a step: answer time, median / p99"
    rows = [
        Row(part="a", measured=what, ours=str(at_once), versus=name, theirs=str(other), ratio=at_once.over(other))
        for name, other in (
            ("one person alone, Kirim", alone),
            ("plain sequential (PTB's default)", sequential),
            (f"plain concurrent (concurrent_updates({CONCURRENT}))", concurrent),
        )
    ]
    right, plain_right = await _count_complete(_queues, people), await _count_complete(_concurrent, people)
    return [
        Row(
            part="a",
            measured=f"one person alone, {seconds(SERVICE_SECONDS)} of service a step: answer time, median / p99",
            ours=str(alone),
            versus="plain, one person alone",
            theirs=str(plain_alone),
            ratio=alone.over(plain_alone),
        ),
        *rows,
        Row(
            part="a",
            measured=f"of {people} who keep typing without waiting: conversations with a wrong result",
            ours=str(people - right),
            versus="plain concurrent",
            theirs=str(people - plain_right),
        ),
    ]


def _queues(users: Users, folder: Path) -> Opened:
    return open_ours(users, folder)


def _concurrent(users: Users, _: Path) -> Opened:
    return open_plain(users, CONCURRENT)


def _sequential(users: Users, _: Path) -> Opened:
    return open_plain(users, 0)


async def _answer_times(way: Callable[[Users, Path], Opened], people: int, texts: Sequence[str]) -> list[float]:
    users = Users()
    with tempfile.TemporaryDirectory() as folder:
        async with way(users, Path(folder)):
            times = await asyncio.gather(*(users.write_after_answers(FIRST_ID + user, texts) for user in range(people)))
    return list(itertools.chain.from_iterable(times))


async def _count_complete(way: Callable[[Users, Path], Opened], people: int) -> int:
    """Return how many conversations have all texts of their users."""
    users = Users()
    everybody = range(FIRST_ID, FIRST_ID + people)
    with tempfile.TemporaryDirectory() as folder:
        async with way(users, Path(folder)) as application:
            await asyncio.gather(*(users.write_at_once(user, skeleton.TEXTS) for user in everybody))
    return sum(skeleton.answers_of(application, user) == skeleton.TEXTS[1:] for user in everybody)
