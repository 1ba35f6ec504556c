"""New users, so that tests in a shared system don't affect each other."""

import asyncio
import itertools
from dataclasses import dataclass

from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.orders.steps import type_to_review
from tests.e2e.system import System
from tests.waiting import found


async def new_user(system: System, language: str | None = "en") -> ChatUser:
    """Return a new user whose app has this language."""
    about = {"first_name": "Newcomer", "language_code": language, "role": "sender"}
    answer = await system.telegram.post("/sandbox/people", json=about)
    return ChatUser(system.telegram, answer.raise_for_status().json()["id"])


NUMBERS = itertools.count(2_110_000_000)
INVOICE = r"lnbcrt\w+"


@dataclass(frozen=True, slots=True)
class Sender:
    """A new user, and an account number that only they send to."""

    chat: ChatUser
    number: str
    system: System

    async def orders(self) -> list[Json]:
        """Return the service's orders to this number, newest first."""
        return await self.system.service.orders(self.number)

    async def has_order(self) -> Json:
        """Wait until the service has an order to this number, and return it."""
        return (await found(self.orders, bool, what=f"an order to {self.number}"))[0]


async def new_sender(system: System, *, language: str = "en") -> Sender:
    """Return a new sender."""
    answer = await system.telegram.post("/sandbox/people", json={"first_name": "Nadia", "language_code": language})
    user_id = answer.raise_for_status().json()["id"]
    return Sender(ChatUser(system.telegram, user_id), str(next(NUMBERS)), system)


async def new_sender_at_review(system: System) -> Sender:
    """Return a new sender who only has to confirm the review."""
    sender = await new_sender(system)
    await type_to_review(sender.chat, number=sender.number)
    return sender


async def new_senders_at_review(system: System, count: int) -> list[Sender]:
    """Return several new senders at the review. Together they are faster, because each chat is rate-limited."""
    return await asyncio.gather(*(new_sender_at_review(system) for _ in range(count)))
