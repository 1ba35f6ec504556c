"""An operator compares the service's list with the bot's orders, gets the alarm, and downloads the books."""

from datetime import UTC, datetime

from tests.chat.operations.test_statistics import download_table
from tests.e2e.bot_database import change_rows, row_of, wait_for_row
from tests.e2e.chat_user import Json
from tests.e2e.local_times import JAKARTA, move_to_noon, now_in_jakarta
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like, says


async def test_an_operator_compares_sees_a_difference_and_downloads_the_books(kirim: System) -> None:
    oscar, emma = kirim.oscar, await new_user(kirim)
    await oscar.speaks("en")
    await move_to_noon(oscar)
    await kirim.service.does("bulk", count=120)
    _, order = await tap_to_invoice(kirim, emma)
    await kirim.service.pays(order)
    await complete_order(kirim, order)
    await wait_for_row(kirim, order, phase="done")
    reference = await _change_amount(kirim, order)
    await oscar.says("/reconcile")
    shown = await oscar.sees(like("operations.reconciliation.head"), anywhere=True)
    assert says(shown["text"], "operations.reconciliation.counts", ours=1, others=99)
    assert says(shown["text"], "operations.reconciliation.kind_amount", reference=reference)
    alarm = await oscar.sees(like("staff.alarm.amount_differs"), anywhere=True)
    await oscar.taps(label("staff.alarm.seen_to"), message=alarm)
    await oscar.taps(label("staff.alarm.outcome_otherwise"), message=await oscar.sees(like("staff.alarm.ask_outcome")))
    await oscar.taps(label("operations.books.button"), message=shown)
    await oscar.sees(like("operations.books.ask"))
    paid = datetime.fromisoformat(str(row_of(kirim, order)["paid_at"])).replace(tzinfo=UTC).astimezone(JAKARTA)
    await oscar.taps(label("staff.export.this_month" if paid.month == now_in_jakarta().month else "staff.export.month"))
    name, (row,) = await download_table(oscar, await oscar.sees(like("operations.books.caption")))
    assert name.startswith("kirim-books-")
    assert (row["day"], row["paid_by"]) == (f"{paid:%Y-%m-%d}", "lightning")
    assert (row["sent_orders"], row["sent_idr"], row["sent_sats"]) == ("1", "500001", str(order["satAmount"]))
    assert not {"1234567890", str(emma.id)} & set(row.values())
    await oscar.taps(label("operations.books.back"))
    await oscar.sees(like("operations.reconciliation.kind_amount"))
    await oscar.says("/reconcile 1/1/2001")
    await oscar.sees(like("operations.books.no_orders"))
    await oscar.says("/stats")
    beside = await oscar.sees(like("operations.platform.about_ours"))
    assert says(beside["text"], "operations.platform.figure_and_ours", ours="1")
    await emma.says("/reconcile")
    await emma.sees(like("checkout.chat.unknown_command"))
    await emma.says("/start")
    under = await emma.sees(like("home.start.text"))
    for button in ("rc:again", "rc:books", "rc:csv:month", "rc:back", "rc:csv:day", "rc:nothing"):
        await emma.presses(under, button, force=True)
    for key in ("reconciliation.head", "books.ask", "books.caption"):
        assert await emma.count(like(f"operations.{key}")) == 0


async def _change_amount(kirim: System, order: Json) -> str:
    """Change the amount in the bot's row of an order, and return the order's reference."""
    changed = "UPDATE orders SET idr = idr + 1, version = version + 1 WHERE service_id = ?"
    await change_rows(kirim, changed, (order["id"],))
    return str(row_of(kirim, order)["reference"])
