"""(a) The whole bot in a separate process: 200 users on their way to a review, compared with one user alone.

The service takes 300 ms for each read. An answer time is the time from a user's message until the sandbox's Telegram
shows the answer. Users who pause to think are compared with one user. Without any limit, the benchmark measures how
many answers a second the bot can give.

200 users who write in the same moment are measured under both readings of Telegram's limit of 30 messages a second:
it counts only bulk, or all messages. They are compared with what 29.7 messages a second would take.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.sandbox.bot_api.model import TOTAL_LIMITS, TotalLimit
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system
from tests.texts import label, like

SERVICE_SECONDS = 0.3
PEOPLE, FEW_PEOPLE = 200, 10
THINKING = (6.0, 18.0)
PER_SECOND = 29.7
FIXED = f"{PER_SECOND} messages a second (calculated)"
QUICK_CHATS = {"CHAT_MESSAGES_PER_SECOND": "30"}
"""Only the bot's own time is measured then, and not the pace of a chat."""


@dataclass(frozen=True, slots=True)
class Step:
    """A user's action (a label in brackets is a button), and the text that they then see."""

    does: str
    sees: str


WAY = (
    Step("/send", like("checkout.destination.ask")),
    Step("bca", like("checkout.number.ask_bank")),
    Step("1234567890", like("checkout.holder.ask")),
    Step(f"[{label('checkout.holder.skip')}]", like("checkout.amount.ask")),
    Step("500rb", like("checkout.review.title")),
)


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    count = FEW_PEOPLE if quick else PEOPLE
    async with _served() as system, system.program("-m", "bot", "run", **QUICK_CHATS):
        people = [await system.user(number) for number in range(count + 3)]
        alone = Spread.from_times([took for user in people[count:] for took in await walk(system, user, WAY)])
        began = time.perf_counter()
        answers = len(await all_walk(system, people[:count], WAY))
        rate = answers / (time.perf_counter() - began)
    pauses = await _measure_thinking(count, (0.5, 1.5) if quick else THINKING)
    readings = {reading: Spread.from_times(await _time_same_moment(reading, count)) for reading in TOTAL_LIMITS}
    limit = Spread.from_times([turn / PER_SECOND for turn in range(1, count + 1)])
    what = f"whole bot, service {seconds(SERVICE_SECONDS)} a read, {count} people"
    thinking = f"{THINKING[0]:.0f} to {THINKING[1]:.0f} s of thinking"
    return [
        _row(
            f"{what}, {thinking}",
            pauses,
            "one person alone, Kirim (p99: its caches were empty)",
            alone,
        ),
        _row(f"{what}, all in one moment, Telegram limits only bulk", readings["bulk"], FIXED, limit),
        _row(f"{what}, all in one moment, Telegram limits all messages to 30/s", readings["all"], FIXED, limit),
        Row(
            part="a",
            measured=f"{what} who never pause, no Telegram limit: answers a second",
            ours=f"{rate:.0f}/s",
            versus="Telegram's limit for bulk",
            theirs=f"{PER_SECOND}/s",
            ratio=times_as_much(rate, PER_SECOND),
        ),
    ]


def _row(what: str, ours: Spread, versus: str, theirs: Spread) -> Row:
    return Row(
        part="a",
        measured=f"{what}: answer time, median / p99",
        ours=str(ours),
        versus=versus,
        theirs=str(theirs),
        ratio=ours.over(theirs),
    )


async def _measure_thinking(count: int, thinking: tuple[float, float]) -> Spread:
    async with _served("bulk") as system:
        people = [await system.user(number) for number in range(count + FEW_PEOPLE)]
        async with system.bot():
            await all_walk(system, people[count:], WAY[:2])  # fills the caches
            return Spread.from_times(await all_walk(system, people[:count], WAY[:2], thinking))


async def _time_same_moment(reading: TotalLimit, count: int) -> list[float]:
    """Return the answer times of users who all write in one moment."""
    async with _served(reading) as system, system.bot():
        people = [await system.user(number) for number in range(count)]
        return await all_walk(system, people, WAY[:1])


@asynccontextmanager
async def _served(telegram_limit: TotalLimit | None = None) -> AsyncIterator[SandboxSystem]:
    async with open_system(telegram_limit=telegram_limit) as made:
        await made.service.fails_with("delay", method="GET", path="/v1", seconds=SERVICE_SECONDS)
        yield made


async def all_walk(
    system: SandboxSystem, people: Sequence[int], way: Sequence[Step], thinking: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """Let all users walk at once. Return the answer times."""
    walks = await asyncio.gather(*(walk(system, user, way, thinking) for user in people))
    return [took for walk in walks for took in walk]


async def walk(
    system: SandboxSystem, user: int, way: Sequence[Step], thinking: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """Let one user take all steps. Return the answer times."""
    pauses, last = random.Random(user), Json()
    times: list[float] = []
    for step in way:
        await asyncio.sleep(pauses.uniform(*thinking))
        began = time.perf_counter()
        acting = asyncio.create_task(act(system, user, step, last))
        event = await system.chat_events.first(user, step.sees, began)
        times.append(event.at - began)
        last = event.message
        await acting
    return times


async def act(system: SandboxSystem, user: int, step: Step, last: Json) -> None:
    """Let a user write, or press a button of the message `last`."""
    if not step.does.startswith("["):
        await system.says(user, step.does)
        return
    buttons = [button for row in last["reply_markup"]["inline_keyboard"] for button in row]
    data = next(button["callback_data"] for button in buttons if step.does.strip("[]") in button["text"])
    press = {"from": user, "message_id": last["message_id"], "data": data, "timeout": 0}
    (await system.users.post(f"/sandbox/chats/{user}/press", json=press)).raise_for_status()
