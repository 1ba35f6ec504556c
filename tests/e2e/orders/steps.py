"""The steps of an order that many tests take: to the review, to the invoice, and to the end."""

import sqlite3
from contextlib import closing
from typing import Any

from bot.orders.buttons import OrderAction, OrderButton
from bot.recipients.formatting import group_digits
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, found

DESTINATION_QUESTION = f"{like('checkout.destination.ask')}|{like('checkout.destination.ask_again')}"
"""The question for a destination, with or without saved recipients."""

ENDED = r"✅ \w{7} · .+ → .+ · [Ss]ent"
"""What is left of the status message of an order that was sent."""


def review_pattern(locale: str = "en", **figures: object) -> str:
    """Return a regular expression for the review of an order with this `amount`, `bank`, `number` and `holder`.

    Arguments that are left out match anything. The others match whole. `number` is without spaces.
    """
    if "number" in figures:
        figures["number"] = group_digits(str(figures["number"]))
    recipient = {name: figures.pop(name) for name in ("bank", "holder", "number") if name in figures}
    return "(?s:.*)".join(
        (
            f"{like('checkout.review.title', locale)}\n{like('checkout.review.figures', locale, **figures)}",
            like("checkout.review.recipient", locale, **recipient),
        )
    )


async def tap_change(user: ChatUser, what: str, **how: Any) -> Json:
    """Tap “Change…” under the newest review, and then what is to be changed. Return the answer to the second tap.

    `how` is of both taps.
    """
    review = await user.waits_for(lambda message: has_button(message, "checkout.review.change"), anywhere=True)
    await user.taps(label("checkout.review.change"), message=review, **how)
    menu = await user.sees(like("checkout.review.what_to_change"))
    return await user.taps(label(f"checkout.review.edit.{what}"), message=menu, **how)


def has_button(message: Json, key: str) -> bool:
    """Return whether a message has the button with this text."""
    rows = (message.get("reply_markup") or {}).get("inline_keyboard", [])
    return label(key) in {button["text"] for row in rows for button in row}


async def tap_to_review(user: ChatUser, *, amount: str = "Rp500,000", number: str = "1234567890") -> Json:
    """Go to the review mostly by buttons, in English: BCA, no name. Return its message."""
    await user.says("/send")
    await user.sees(DESTINATION_QUESTION)
    await user.taps("BCA")
    await user.sees(like("checkout.number.ask_bank"))
    await user.says(number)
    await user.sees(like("checkout.holder.ask"))
    await user.taps(label("checkout.holder.skip"))
    await user.sees(like("checkout.amount.ask"))
    await user.taps(amount)
    return await user.sees(like("checkout.review.title"))


async def tap_to_invoice(system: System, user: ChatUser, *, number: str = "1234567890") -> tuple[Json, Json]:
    """Go to the invoice mostly by buttons. Return the message to pay with, and the service's order."""
    await tap_to_review(user, number=number)
    await user.taps(label("checkout.review.confirm"))
    pay = await user.sees(like("orders.status_message.waiting"))
    return pay, await order_of(system, user)


async def type_to_review(
    user: ChatUser, *, bank: str = "bca", number: str = "1234567890", amount: str = "500rb"
) -> Json:
    """Go from /send to the review by typing, in English. Return its message."""
    await user.says("/send")
    await user.sees(DESTINATION_QUESTION)
    await user.says(bank)
    await user.sees(f"{like('checkout.number.ask_bank')}|{like('checkout.number.ask_ewallet')}")
    await user.says(number)
    await user.sees(like("checkout.holder.ask"))
    await user.taps(label("checkout.holder.skip"))
    await user.sees(like("checkout.amount.ask"))
    await user.says(amount)
    return await user.sees(like("checkout.review.title"))


async def type_to_invoice(system: System, user: ChatUser, **answers: str) -> tuple[Json, Json]:
    """Go to the invoice by typing. Return the message to pay with, and the service's order."""
    await type_to_review(user, **answers)
    await user.taps(label("checkout.review.confirm"))
    pay = await user.sees(f"{like('orders.status_message.waiting')}(?s:.*)lnbcrt")
    return pay, await order_of(system, user)


async def refresh_status(system: System, user: ChatUser, message: Json, order: Json) -> Json:
    """Press “Refresh”, which only a deposit shows, under the message to pay an invoice with. Return the answer."""
    return await user.presses(message, order_button(system, order, OrderAction.REFRESH_STATUS), force=True)


def order_button(system: System, order: Json, action: OrderAction) -> str:
    """Return the data of a button under a message about this order."""
    return OrderButton(str(row_of(system, order)["reference"]), action).pack()


async def complete_order(system: System, order: Json) -> None:
    """Move a paid order to its end."""
    while True:
        if (await system.service.order(order["id"]))["state"] in {"COMPLETED", "FAILED"}:
            return
        await system.service.does("advance", orderId=order["id"])


async def order_of(system: System, user: ChatUser) -> Json:
    """Return the service's newest order of this user. The bot's row says which one it is."""

    async def service_id() -> str | None:
        newest = "SELECT service_id FROM orders WHERE user_id = ? ORDER BY created_at DESC LIMIT 1"
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            row = database.execute(newest, (user.id,)).fetchone()
        return str(row[0]) if row and row[0] else None

    return await system.service.order(str(await found(service_id, bool, what=f"an order of {user.id}")))
