"""Newcomers: persons whom the bot has never met, so that stories in one world don't meet one another."""

import asyncio
import itertools
from dataclasses import dataclass

from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.orders.steps import type_to_review
from tests.e2e.system import System
from tests.waiting import found


async def new_user(system: System, language: str | None = "en") -> ChatUser:
    """Somebody new whose app speaks `language`."""
    about = {"first_name": "Newcomer", "language_code": language, "role": "sender"}
    answer = await system.telegram.post("/sandbox/people", json=about)
    return ChatUser(system.telegram, answer.raise_for_status().json()["id"])


NUMBERS = itertools.count(2_110_000_000)
INVOICE = r"lnbcrt\w+"


@dataclass(frozen=True, slots=True)
class Sender:
    """Somebody new, and the account that only they send to."""

    chat: ChatUser
    number: str
    system: System

    async def orders(self) -> list[Json]:
        """What the service has made of this person's wishes, newest first."""
        return await self.system.service.orders(self.number)

    async def has_order(self) -> Json:
        """Wait for the service to have made one."""
        return (await found(self.orders, bool, what=f"an order to {self.number}"))[0]


async def new_sender(system: System, *, language: str = "en") -> Sender:
    """A person whom the bot has never met."""
    answer = await system.telegram.post("/sandbox/people", json={"first_name": "Nadia", "language_code": language})
    user_id = answer.raise_for_status().json()["id"]
    return Sender(ChatUser(system.telegram, user_id), str(next(NUMBERS)), system)


async def new_sender_at_review(system: System) -> Sender:
    """A newcomer who needs only to confirm."""
    sender = await new_sender(system)
    await type_to_review(sender.chat, number=sender.number)
    return sender


async def new_senders_at_review(system: System, count: int) -> list[Sender]:
    """Several newcomers at once: each alone would wait for the pace that Telegram sets a chat."""
    return await asyncio.gather(*(new_sender_at_review(system) for _ in range(count)))
