"""Helpers for stories of the card of a ticket in the chats of support."""

import re

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.support.tickets import CARD
from tests.e2e.system import System
from tests.texts import in_any_language, like, shown_user


def support_group(system: System, chat_id: int = SUPPORT_GROUP_ID) -> ChatUser:
    """Return the group as Rina sees it."""
    return ChatUser(system.telegram, 3001, chat_id)


async def fail_after_payment(system: System) -> tuple[ChatUser, Json]:
    """Let a new user pay an order that then fails."""
    user = await new_user(system)
    _, order = await tap_to_invoice(system, user)
    await system.service.pays(order)
    await user.sees(like("orders.notification.paid"))
    await system.service.does("fail", orderId=order["id"])
    await user.sees(like("orders.notification.failed_paid"))
    return user, order


async def wait_for_card(group: ChatUser, user: ChatUser) -> Json:
    """Wait for the card of a user's ticket, in any language."""
    about = in_any_language("support.case.person", user=shown_user(user.id))
    return await group.waits_for(lambda m: is_card(m) and re.search(about, text_of(m)) is not None, anywhere=True)


def is_card(message: Json) -> bool:
    return re.search(CARD, text_of(message)) is not None


async def topics(system: System, chat_id: int = SUPPORT_GROUP_ID) -> dict[int, Json]:
    """Return the topics of a group by id."""
    chats = (await system.telegram.get("/sandbox/state")).raise_for_status().json()["chats"]
    found = next(chat for chat in chats if chat["id"] == chat_id)["topics"]
    return {topic["id"]: topic for topic in found}
