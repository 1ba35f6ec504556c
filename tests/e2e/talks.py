"""Support and a person talk about an order that failed: what the stories of tickets have in common."""

import re
from dataclasses import dataclass

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.people import Newcomer, newcomer, taps_to_invoice
from tests.e2e.trouble import is_at_rest
from tests.e2e.world import Chatter, Json, World, words_of
from tests.texts import in_any_language, like

GROUP = SUPPORT_GROUP_ID
TICKET = re.compile("T-[0-9A-Z]{5}")
CARD = "|".join(in_any_language(f"staff_ticket.{state}", reference=TICKET) for state in ("unclaimed", "claimed"))
"""The heading of an open ticket's card."""


@dataclass
class Case:
    """One person's ticket: `rina` and `oscar` where they work, `head` is the ticket's card before Rina."""

    world: World
    user: Newcomer
    rina: Chatter
    oscar: Chatter
    reference: str
    head: Json

    async def answers(self, text: str, *, to: Json | None = None, by: Chatter | None = None) -> Json:
        """A supporter's reply in the topic; the message that they wrote."""
        return await (by or self.rina).says(text, reply_to=to or self.head)

    async def in_topic(self, text: str) -> Json:
        """Wait for what the bot says of this ticket where Rina works."""
        return await self.rina.waits_for(
            lambda message: self._is_here(message) and re.search(text, words_of(message)) is not None,
            anywhere=True,
            what=text,
        )

    async def is_claimed_by(self, staff: Chatter) -> None:
        """Wait until the card says so."""
        await self.in_topic(in_any_language("staff_ticket.claimed", reference=self.reference, by=str(staff.id)))

    async def got(self) -> list[str]:
        """What support has said to the person."""
        return [words_of(each) for each in await self.user.messages() if self._is_of_support(each)]

    async def presses(self, label: str, by: Chatter | None = None) -> Json:
        """A button of the card."""
        return await (by or self.rina).taps(label, message=await (by or self.rina).finds(self.head) or self.head)

    def _is_here(self, message: Json) -> bool:
        if not message["from"]["is_bot"] or message["message_id"] < self.head["message_id"]:
            return False
        return message.get("message_thread_id") == self.head.get("message_thread_id")

    def _is_of_support(self, message: Json) -> bool:
        return bool(message["from"]["is_bot"]) and f"· {self.reference}" in words_of(message)


async def a_case(world: World, language: str = "en", group: int | None = GROUP) -> Case:
    """Somebody new pays, it fails, and the ticket has opened by itself: in the group, or (None) in private.

    Everybody has been told of it, so what is held up next is what a test causes.
    """
    user = await newcomer(world)
    _, order = await taps_to_invoice(world, user)
    if language == "id":
        await user.speaks(language)
        await user.says("/help")
        await user.sees(like("help.text", language))
    await world.service.pays(order)
    await world.service.does("fail", orderId=order["id"])
    rina, oscar = (Chatter(world.telegram, staff, group) for staff in (3001, 2001))
    head = await rina.waits_for(lambda message: _is_card_of(message, user), anywhere=True, what="the card")
    await is_at_rest(world)
    reference = re.findall("T-[0-9A-Z]{5}", words_of(head))[0]
    return Case(world, user, rina, oscar, reference, head)


def _is_card_of(message: Json, user: Newcomer) -> bool:
    return (
        bool(message["from"]["is_bot"])
        and re.search(in_any_language("case.person", id=str(user.id)), words_of(message)) is not None
    )
