"""Support and a person talk about an order that failed: what the stories of tickets have in common."""

import re
from dataclasses import dataclass

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import in_any_language, like

GROUP = SUPPORT_GROUP_ID
TICKET = re.compile("T-[0-9A-Z]{5}")
CARD = "|".join(in_any_language(f"staff_ticket.{state}", reference=TICKET) for state in ("unclaimed", "claimed"))
"""The heading of an open ticket's card."""


@dataclass
class OpenTicket:
    """One person's ticket: `rina` and `oscar` where they work, `head` is the ticket's card before Rina."""

    system: System
    user: ChatUser
    rina: ChatUser
    oscar: ChatUser
    reference: str
    head: Json

    async def answers(self, text: str, *, to: Json | None = None, by: ChatUser | None = None) -> Json:
        """A supporter's reply in the topic; the message that they wrote."""
        return await (by or self.rina).says(text, reply_to=to or self.head)

    async def in_topic(self, text: str) -> Json:
        """Wait for what the bot says of this ticket where Rina works."""
        return await self.rina.waits_for(
            lambda message: self._is_here(message) and re.search(text, text_of(message)) is not None,
            anywhere=True,
            what=text,
        )

    async def is_claimed_by(self, staff: ChatUser) -> None:
        """Wait until the card says so."""
        await self.in_topic(in_any_language("staff_ticket.claimed", reference=self.reference, by=str(staff.id)))

    async def got(self) -> list[str]:
        """What support has said to the person."""
        return [text_of(each) for each in await self.user.messages() if self._is_of_support(each)]

    async def presses(self, label: str, by: ChatUser | None = None) -> Json:
        """A button of the card."""
        return await (by or self.rina).taps(label, message=await (by or self.rina).finds(self.head) or self.head)

    def _is_here(self, message: Json) -> bool:
        if not message["from"]["is_bot"] or message["message_id"] < self.head["message_id"]:
            return False
        return message.get("message_thread_id") == self.head.get("message_thread_id")

    def _is_of_support(self, message: Json) -> bool:
        return bool(message["from"]["is_bot"]) and f"· {self.reference}" in text_of(message)


async def open_ticket(system: System, language: str = "en", group: int | None = GROUP) -> OpenTicket:
    """Somebody new pays, it fails, and the ticket has opened by itself: in the group, or (None) in private.

    Everybody has been told of it, so what is held up next is what a test causes.
    """
    user = await new_user(system)
    _, order = await tap_to_invoice(system, user)
    if language == "id":
        await user.speaks(language)
        await user.says("/help")
        await user.sees(like("help.text", language))
    await system.service.pays(order)
    await system.service.does("fail", orderId=order["id"])
    rina, oscar = (ChatUser(system.telegram, staff, group) for staff in (3001, 2001))
    head = await rina.waits_for(lambda message: _is_card_of(message, user), anywhere=True, what="the card")
    await wait_until_idle(system)
    reference = re.findall("T-[0-9A-Z]{5}", text_of(head))[0]
    return OpenTicket(system, user, rina, oscar, reference, head)


def _is_card_of(message: Json, user: ChatUser) -> bool:
    return (
        bool(message["from"]["is_bot"])
        and re.search(in_any_language("case.person", id=str(user.id)), text_of(message)) is not None
    )
