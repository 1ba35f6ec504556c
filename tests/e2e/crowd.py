"""Many persons in one world, each with a number of their own, so that orders can be told apart by who wished them."""

import asyncio
import itertools
from dataclasses import dataclass

from tests.e2e.steps import reaches_review
from tests.e2e.world import Chatter, Json, World
from tests.waiting import found

NUMBERS = itertools.count(2_110_000_000)
INVOICE = r"lnbcrt\w+"


@dataclass(frozen=True, slots=True)
class Sender:
    """Somebody new, and the account that only they send to."""

    chat: Chatter
    number: str
    world: World

    async def orders(self) -> list[Json]:
        """What the service has made of this person's wishes, newest first."""
        return await self.world.service.orders(self.number)

    async def has_order(self) -> Json:
        """Wait for the service to have made one."""
        return (await found(self.orders, bool, what=f"an order to {self.number}"))[0]


async def newcomer(world: World, *, language: str = "en") -> Sender:
    """A person whom the bot has never met."""
    answer = await world.telegram.post("/sandbox/people", json={"first_name": "Nadia", "language_code": language})
    user_id = answer.raise_for_status().json()["id"]
    return Sender(Chatter(world.telegram, user_id), str(next(NUMBERS)), world)


async def newcomer_at_review(world: World) -> Sender:
    """A newcomer who needs only to confirm."""
    sender = await newcomer(world)
    await reaches_review(sender.chat, number=sender.number)
    return sender


async def crowd_at_review(world: World, count: int) -> list[Sender]:
    """Several newcomers at once: each alone would wait for the pace that Telegram sets a chat."""
    return await asyncio.gather(*(newcomer_at_review(world) for _ in range(count)))
