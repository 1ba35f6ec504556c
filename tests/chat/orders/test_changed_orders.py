"""Someone changes a row in the database. The user reads that it is damaged, and nothing can be paid."""

from bot.orders.repository import OrderRepository
from tests.e2e.bot_database import change_rows, open_transaction
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import refresh_status, tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like

TO_A_THIEF = "UPDATE orders SET bolt11 = 'lnbc of a thief' WHERE service_id = ?"


async def changes(kirim: System, statement: str, *values: object) -> None:
    """Change a row, as someone can who has access to the database but no key."""
    assert await change_rows(kirim, statement, values) == 1


async def test_who_looks_at_an_order_that_was_changed_reads_not_to_pay_it(kirim: System) -> None:
    emma = await new_user(kirim)
    pay, order = await tap_to_invoice(kirim, emma)
    await changes(kirim, TO_A_THIEF, order["id"])
    await refresh_status(kirim, emma, pay, order)
    await emma.sees(like("orders.chat.order_unreadable"))


async def test_who_confirms_a_draft_that_was_changed_since_its_review_orders_nothing(kirim: System) -> None:
    emma = await new_user(kirim)
    await tap_to_review(emma)
    await changes(kirim, "UPDATE drafts SET method = json_set(method, '$.name', 'BANK BRI') WHERE chat_id = ?", emma.id)
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("checkout.draft.unreadable"))
    await tap_to_review(emma)
    async with open_transaction(kirim) as tx:
        assert await OrderRepository(tx).of_user(emma.id) == ()


async def test_a_recipient_that_was_changed_is_not_sent_to(kirim: System) -> None:
    emma = await new_user(kirim)
    await emma.says("/send 500rb bca 1234567890 Budi Santoso")
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    await emma.says("/recipients")
    await emma.sees(like("recipients.list.ask"))
    await changes(
        kirim, "UPDATE recipients SET method = json_set(method, '$.name', 'BANK BRI') WHERE user_id = ?", emma.id
    )
    await emma.taps("Budi Santoso")
    await emma.sees(like("recipients.unreadable"))
