"""Helpers for stories of revealed recipients."""

import sqlite3
from contextlib import closing

from tests.e2e.bot_database import change_rows, row_of
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import like

NUMBER, MASKED = "1234567890", "BCA ••••7890"


async def an_order(system: System) -> tuple[ChatUser, str]:
    """Place an order of a new user to BCA, and return the user and our reference."""
    emma = await new_user(system)
    _, order = await tap_to_invoice(system, emma)
    return emma, str(row_of(system, order)["reference"])


async def message_to_press(user: ChatUser, language: str = "en") -> Json:
    """Return a message of the bot, to press forged buttons under it."""
    await user.speaks(language)
    await user.says("/start")
    return await user.sees(f"{like('home.start.text', language)}|{like('home.start.staff', language)}")


async def end_minute(system: System) -> None:
    """End the minute of all reveals."""
    await change_rows(system, "UPDATE reveals SET until = '2026-01-01 00:00:00.000000' WHERE masked_at IS NULL", ())


async def is_not_shown(user: ChatUser) -> bool:
    """Return whether no message of the bot in the chat shows the number. Quoted messages of others don't count."""
    written = [message for message in await user.messages() if message["from"]["is_bot"]]
    return not any(NUMBER in str({**message, "reply_to_message": None}) for message in written)


def audit_rows(system: System, reference: str) -> list[tuple[int, str]]:
    """Return the agents who revealed an order's recipient, and the stored reasons."""
    with closing(sqlite3.connect(system.state / "kirim.db")) as database:
        known = "SELECT actor_id, detail FROM audit WHERE action = 'revealed' AND subject = ? ORDER BY id"
        return database.execute(known, (f"order:{reference}",)).fetchall()
