"""Users of a sandbox who write, order and pay for some minutes, and what goes wrong meanwhile.

It makes the metrics of the picture of the dashboard. Their times are those of a real run, on whatever machine it ran.
"""

import asyncio
import random
import time
from contextlib import suppress

from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from tests.benchmarks.broadcast import a_broadcast, subscribe
from tests.benchmarks.sandbox_system import ChatEvent, Json, SandboxSystem
from tests.infra.keys import VAULT
from tests.texts import label, like

SENDERS = 40
CROWD = 200
SUBSCRIBERS = 400
FIRST_NUMBER = 2_110_000_000
ANSWER_TIMEOUT_SECONDS = 60.0
MINUTES = 12.0
CROWD_AT, OUTAGE_AT, BROADCAST_AT, TOO_MANY_AT = (share * MINUTES * 60 for share in (0.25, 0.45, 0.65, 0.85))
OUTAGE_SECONDS = 40.0


async def run(system: SandboxSystem) -> None:
    """Let everything happen once, beside the bot that runs. It takes `MINUTES`."""
    await system.service.does("settings", speedSeconds=4.0, invoiceExpirySeconds=180)
    senders = [await system.user(number) for number in range(SENDERS)]
    ends_at = time.monotonic() + MINUTES * 60
    async with asyncio.TaskGroup() as together:
        for number, user in enumerate(senders):
            together.create_task(_send_again_and_again(system, user, str(FIRST_NUMBER + number), ends_at))
        together.create_task(_crowd(system))
        together.create_task(_outage(system))
        together.create_task(_broadcast(system))
        together.create_task(_too_many_requests(system))


async def _send_again_and_again(system: SandboxSystem, user: int, number: str, ends_at: float) -> None:
    choices = random.Random(user)
    await asyncio.sleep(choices.uniform(0, 40))
    while time.monotonic() < ends_at:
        # During the outage, some answers don't come, and some have no button. The user tries again, as people do.
        with suppress(TimeoutError, LookupError):
            if choices.random() < 0.6:
                await _send(system, user, number, choices)
            else:
                await _ask(system, user, choices.choice(("/rate", "/orders", "/help", "/recipients")))
        await asyncio.sleep(choices.uniform(5, 40))


async def _send(system: SandboxSystem, user: int, number: str, choices: random.Random) -> None:
    """Order in one line, confirm, and usually pay."""
    began = time.perf_counter()
    await system.says(user, f"/send {choices.choice((150, 250, 500, 750))}rb bca {number} Budi Santoso")
    review = await system.chat_events.first(user, like("checkout.review.title"), began, ANSWER_TIMEOUT_SECONDS)
    await asyncio.sleep(choices.uniform(1, 5))
    began = time.perf_counter()
    await _press(system, user, review, label("checkout.review.confirm"))
    await system.chat_events.first(user, like("orders.status_message.waiting"), began, ANSWER_TIMEOUT_SECONDS)
    if choices.random() < 0.15:
        return
    await asyncio.sleep(choices.uniform(3, 20))
    newest = (await system.service.orders(number))[0]
    began = time.perf_counter()
    await system.service.pays(newest)
    await system.chat_events.first(user, like("orders.notification.sent_bank"), began, ANSWER_TIMEOUT_SECONDS)


async def _ask(system: SandboxSystem, user: int, command: str) -> None:
    began = time.perf_counter()
    await system.says(user, command)
    await system.chat_events.first(user, "", began, ANSWER_TIMEOUT_SECONDS)


async def _press(system: SandboxSystem, user: int, shown: ChatEvent, wanted: str) -> None:
    buttons = [button for row in shown.message["reply_markup"]["inline_keyboard"] for button in row]
    data = [button["callback_data"] for button in buttons if wanted in button["text"]][0]  # noqa: RUF015  `next` raises what a coroutine may not raise
    press: Json = {"from": user, "message_id": shown.message["message_id"], "data": data, "timeout": 0}
    (await system.telegram.post(f"/sandbox/chats/{user}/press", json=press)).raise_for_status()


async def _crowd(system: SandboxSystem) -> None:
    """Many new users write in the same moment."""
    people = [await system.user(SENDERS + number) for number in range(CROWD)]
    await asyncio.sleep(CROWD_AT)
    await asyncio.gather(*(system.says(user, "/start") for user in people))


async def _outage(system: SandboxSystem) -> None:
    """The settlement service answers with errors."""
    await asyncio.sleep(OUTAGE_AT)
    await system.service.does("faults", fault="503", path="/v1")
    await asyncio.sleep(OUTAGE_SECONDS)
    await system.service.heals()


async def _broadcast(system: SandboxSystem) -> None:
    answer = await system.telegram.post("/sandbox/crowd", json={"count": SUBSCRIBERS, "languages": ["en", "id"]})
    store = Database(system.database, VAULT)
    await subscribe(store, answer.raise_for_status().json()["ids"])
    await asyncio.sleep(BROADCAST_AT)
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(a_broadcast())
    await store.close()


async def _too_many_requests(system: SandboxSystem) -> None:
    """Telegram rejects messages for a moment."""
    await asyncio.sleep(TOO_MANY_AT)
    fault = {"fault": "429", "method": "sendMessage", "times": 3, "retry_after": 2}
    (await system.telegram.post("/sandbox/faults", json=fault)).raise_for_status()
