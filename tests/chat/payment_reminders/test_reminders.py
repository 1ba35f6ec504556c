"""Payment reminders: set from a receipt or a saved recipient, answered by a tap, and never an order by themselves."""

import asyncio
import re
from datetime import UTC, datetime

import pytest

from bot.orders.buttons import OrderAction
from bot.payment_reminders.buttons import ReminderAction, ReminderButton
from tests.e2e.bot_database import change_rows
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_button, order_of, review_pattern
from tests.e2e.rates.rate_updates import selected
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")

BUDI = "Budi Santoso · BCA ••••7890"
EVERY_FRIDAY = like(
    "payment_reminders.line", plan=text("payment_reminders.weekly", day="Friday", amount="Rp500,000"), who=BUDI
)
DUE = like("payment_reminders.due", day=re.compile(".*"), amount="Rp500,000", who=BUDI)
REVIEW = review_pattern(amount="Rp500,000", number="1234567890", holder="Budi Santoso")


async def test_people_are_reminded_and_decide_themselves(shared_system: System) -> None:
    await asyncio.gather(
        from_a_receipt_prepared_at_the_price_of_now(shared_system),
        from_a_recipient_skipped_and_stopped(shared_system),
        with_the_recipient_it_ends(shared_system),
        by_blocking_the_bot_all_end(shared_system),
    )


async def has_sent(system: System) -> tuple[ChatUser, Json]:
    """Return a new user with the receipt of Rp500,000 to Budi Santoso, and the service's order."""
    user = await new_user(system)
    await user.says("/send 500rb bca 1234567890 Budi Santoso")
    await user.sees(like("checkout.review.title"))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.status_message.waiting"))
    order = await order_of(system, user)
    await system.service.does("pay", orderId=order["id"])
    await complete_order(system, order)
    await user.waits_for(lambda message: label("orders.button.remind") in str(message.get("reply_markup")))
    return user, order


async def sets_fridays(system: System) -> tuple[ChatUser, Json]:
    """Set a reminder under the receipt. Return the message that says so."""
    user, _ = await has_sent(system)
    await user.taps(label("orders.button.remind"))
    await user.sees(like("payment_reminders.ask_day", amount="Rp500,000", who=BUDI))
    await user.taps("Friday")
    return user, await user.sees(like("payment_reminders.set", line=re.compile(EVERY_FRIDAY)))


async def falls_due(system: System, user: ChatUser) -> Json:
    """Let the reminder be due now, without quiet hours, and return its message."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    subscribed = "INSERT OR IGNORE INTO subscriptions (user_id, subscribed_at) VALUES (?, ?)"
    await change_rows(system, subscribed, (user.id, now))
    await change_rows(system, "UPDATE payment_reminders SET due_at = ? WHERE user_id = ?", (now, user.id))
    return await user.sees(DUE)


def reminders_of(system: System, user: ChatUser) -> list[tuple[object, ...]]:
    return selected(system, "SELECT id, unanswered FROM payment_reminders WHERE user_id = ?", user.id)


def orders_of(system: System, user: ChatUser) -> int:
    ((count,),) = selected(system, "SELECT count(*) FROM orders WHERE user_id = ?", user.id)
    return int(str(count))


def drafts_of(system: System, user: ChatUser) -> int:
    ((count,),) = selected(system, "SELECT count(*) FROM drafts WHERE user_id = ?", user.id)
    return int(str(count))


async def from_a_receipt_prepared_at_the_price_of_now(system: System) -> None:
    emma, _ = await sets_fridays(system)
    message = await falls_due(system, emma)
    before = drafts_of(system, emma)
    assert orders_of(system, emma) == 1
    (reminder,) = reminders_of(system, emma)
    assert reminder[1] == 1
    # Set again since with another amount: the message prepares what it says.
    await change_rows(system, "UPDATE payment_reminders SET idr = 750000 WHERE user_id = ?", (emma.id,))
    pressed = ReminderButton(str(reminder[0]), ReminderAction.PREPARE, 500_000).pack()
    await asyncio.gather(*(emma.presses(message, pressed, force=True) for _ in range(2)))
    await emma.sees(REVIEW)
    assert await emma.count(REVIEW) == 1
    assert await emma.count(DUE) == 0
    assert (drafts_of(system, emma), orders_of(system, emma)) == (before + 1, 1)
    assert reminders_of(system, emma) == [(reminder[0], 0)]
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    assert orders_of(system, emma) == 2


async def from_a_recipient_skipped_and_stopped(system: System) -> None:
    emma, _ = await has_sent(system)
    await emma.says("/recipients")
    await emma.taps("Budi Santoso")
    await emma.taps(label("recipients.remind"))
    await emma.sees(like("payment_reminders.ask_day", amount="Rp500,000", who=BUDI))
    await emma.taps(label("payment_reminders.button.month"))
    await emma.taps("31")
    monthly = text("payment_reminders.monthly", day="31", amount="Rp500,000")
    line = re.compile(like("payment_reminders.line", plan=monthly, who=BUDI))
    await emma.sees(like("payment_reminders.set", line=line))
    message = await falls_due(system, emma)
    await emma.taps(label("payment_reminders.button.skip"), message=message)
    await emma.sees(like("payment_reminders.skipped", line=line))
    ((_, unanswered),) = reminders_of(system, emma)
    assert unanswered == 0
    await emma.says("/recipients")
    await emma.taps("Budi Santoso")
    await emma.taps(label("recipients.remind"))
    await emma.taps(label("payment_reminders.button.stop_one", what=monthly))
    await emma.sees(like("payment_reminders.stopped", line=line))
    assert reminders_of(system, emma) == []
    await emma.presses(message, ReminderButton("0" * 16, ReminderAction.STOP, 500_000).pack(), force=True)
    await emma.sees(like("payment_reminders.gone"))
    assert orders_of(system, emma) == 1


async def with_the_recipient_it_ends(system: System) -> None:
    emma, _ = await sets_fridays(system)
    order = await order_of(system, emma)
    message = await falls_due(system, emma)
    ((reminder_id, _),) = reminders_of(system, emma)
    await emma.says("/recipients")
    await emma.taps("Budi Santoso")
    await emma.taps(label("recipients.delete"))
    await emma.sees(like("recipients.ask_delete"))
    await emma.taps(label("recipients.delete_sure"))
    await emma.sees(like("recipients.deleted"))
    assert reminders_of(system, emma) == []
    await emma.presses(message, ReminderButton(str(reminder_id), ReminderAction.PREPARE, 500_000).pack(), force=True)
    await emma.sees(like("payment_reminders.gone"))
    answer = await emma.presses(message, order_button(system, order, OrderAction.REMIND), force=True)
    assert answer["text"] == text("payment_reminders.not_saved")


async def by_blocking_the_bot_all_end(system: System) -> None:
    emma, _ = await sets_fridays(system)
    await emma.blocks()

    async def left() -> list[tuple[object, ...]]:
        return reminders_of(system, emma)

    await found(left, lambda rows: rows == [], what="the end of the reminders")
    await emma.blocks(blocked=False)
