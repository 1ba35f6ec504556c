"""Helpers for stories of tickets: a user and support write to each other about a failed order."""

import re
from dataclasses import dataclass

from bot.orders.buttons import OrderAction
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import order_button, tap_to_invoice
from tests.e2e.system import System
from tests.texts import in_any_language, label, like, shown_user

GROUP = SUPPORT_GROUP_ID
STAFF_NAMES = {2001: "Oscar", 3001: "Rina"}
TICKET = re.compile("T-[0-9A-Z]{5}")
CARD = "|".join(
    in_any_language(f"support.staff_ticket.{state}", reference=TICKET) for state in ("unclaimed", "claimed")
)
"""The heading of an open ticket's card."""


@dataclass
class OpenTicket:
    """A user's ticket, the agents `rina` and `oscar` in their chats, and the ticket's `card` in Rina's chat."""

    system: System
    user: ChatUser
    rina: ChatUser
    oscar: ChatUser
    reference: str
    card: Json

    async def answers(self, text: str, *, to: Json | None = None, by: ChatUser | None = None) -> Json:
        """Reply to the card as an agent, and return the sent message."""
        return await (by or self.rina).says(text, reply_to=to or self.card)

    async def in_topic(self, text: str) -> Json:
        """Wait for a message of the bot about this ticket in Rina's chat."""
        return await self.rina.waits_for(
            lambda message: self._is_here(message) and re.search(text, text_of(message)) is not None,
            anywhere=True,
            what=text,
        )

    async def is_claimed_by(self, staff: ChatUser) -> None:
        """Wait until the card shows this agent."""
        await self.in_topic(
            in_any_language("support.staff_ticket.claimed", reference=self.reference, by=STAFF_NAMES[staff.id])
        )

    async def got(self) -> list[str]:
        """Return the texts of the replies in the user's chat."""
        return [text_of(each) for each in await self.user.messages() if self._is_of_support(each)]

    async def presses(self, label: str, by: ChatUser | None = None) -> Json:
        """Press a button of the card."""
        return await (by or self.rina).taps(label, message=await (by or self.rina).finds(self.card) or self.card)

    def _is_here(self, message: Json) -> bool:
        if not message["from"]["is_bot"] or message["message_id"] < self.card["message_id"]:
            return False
        return message.get("message_thread_id") == self.card.get("message_thread_id")

    def _is_of_support(self, message: Json) -> bool:
        return bool(message["from"]["is_bot"]) and f"· {self.reference}" in text_of(message)


async def open_ticket(system: System, language: str = "en", group: int | None = GROUP) -> OpenTicket:
    """Return the ticket of a new user whose paid order failed, in the group or (None) in private.

    All notifications have been sent, so a test can hold up the next call.
    """
    user = await new_user(system)
    _, order = await tap_to_invoice(system, user)
    if language == "id":
        await user.speaks(language)
        await user.says("/help")
        await user.sees(like("support.help.text", language))
    await system.service.pays(order)
    await system.service.does("fail", orderId=order["id"])
    rina, oscar = (ChatUser(system.telegram, staff, group) for staff in (3001, 2001))
    card = await rina.waits_for(lambda message: _is_card_of(message, user), anywhere=True, what="the card")
    await wait_until_idle(system)
    reference = re.findall("T-[0-9A-Z]{5}", text_of(card))[0]
    return OpenTicket(system, user, rina, oscar, reference, card)


async def ask_about_order(system: System, user: ChatUser, order: Json, words: str = "Did it go through?") -> None:
    """Write to support from the page of an order."""
    await user.says("/orders")
    listed = await user.sees(like("orders.history.title"))
    await user.presses(listed, order_button(system, order, OrderAction.SHOW_PAGE))
    await user.taps(label("orders.button.help"))
    await user.sees(like("support.ticket.what_is_wrong"))
    await user.says(words)
    await user.sees(like("support.ticket.is_open"))


def _is_card_of(message: Json, user: ChatUser) -> bool:
    return (
        bool(message["from"]["is_bot"])
        and re.search(in_any_language("support.case.person", user=shown_user(user.id)), text_of(message)) is not None
    )
