"""Statistics for operators, of the service and of the bot, as picture and text, and orders as a file."""

import csv
import io
import re
from datetime import UTC, datetime

from tests.e2e.bot_database import row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import JAKARTA, now_in_jakarta
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like, says, text


async def download_table(user: ChatUser, message: Json) -> tuple[str, list[dict[str, str]]]:
    """Return a document's name and its rows."""
    answer = await user._http.get(f"/sandbox/files/{message['document']['file_id']}")
    content = answer.raise_for_status().content.decode()
    return message["document"]["file_name"], list(csv.DictReader(io.StringIO(content, newline="")))


NUMBER = re.compile(r"(?P<number>[\d,.]+)")
ORDERS, PEOPLE = like("operations.statistics.orders", count=NUMBER), like("operations.statistics.people", known=NUMBER)
VOLUME = like("operations.statistics.volume", idr=re.compile(f"Rp{NUMBER.pattern}"), sats=re.compile(r"[\d,]+ sats"))


def find_number(shown: str, pattern: str) -> int:
    """Return the number that the pattern finds."""
    match = re.search(pattern, shown)
    assert match, shown
    return int(re.sub(r"\D", "", match["number"]))


async def ask_for_statistics(oscar: ChatUser) -> tuple[Json, Json]:
    """Return the picture, and the message about the service."""
    await oscar.says("/stats")
    picture = await oscar.sees(like("operations.statistics.head", period=text("operations.statistics.week")))
    return picture, await oscar.sees(like("operations.platform.head"))


async def test_an_operator_sees_and_downloads_what_was_ordered_paid_and_sent(kirim: System) -> None:
    # In a system of its own, because orders of other tests would be counted, too.
    oscar, emma = ChatUser(kirim.telegram, kirim.oscar.id), await new_user(kirim)
    await oscar.speaks("en")
    await ask_for_statistics(oscar)  # from now on he is one of the users
    before, service = await ask_for_statistics(oscar)
    assert not any(re.search(pattern, text_of(before)) for pattern in (ORDERS, VOLUME))
    assert f"{text('operations.platform.rails')}\n• {text('operations.platform.bitcoin_onchain')}" in service["text"]
    _, order = await tap_to_invoice(kirim, emma)
    await kirim.service.pays(order)
    await emma.sees(like("orders.notification.paid"), anywhere=True)
    await complete_order(kirim, order)
    await wait_for_row(kirim, order, phase="done")
    after, service = await ask_for_statistics(oscar)
    assert after["photo"]
    shown = text_of(after)
    assert find_number(shown, PEOPLE) == find_number(text_of(before), PEOPLE) + 1
    assert (find_number(shown, ORDERS), find_number(shown, VOLUME)) == (1, 500_000)
    assert says(service["text"], "operations.platform.figure", name=text("operations.platform.total_orders"))
    await oscar.taps(label("operations.statistics.button_day"), message=after)
    day = await oscar.sees(like("operations.statistics.head", period=text("operations.statistics.day")))
    assert day["message_id"] == after["message_id"]
    assert day["photo"][-1]["file_id"] != after["photo"][-1]["file_id"]
    await oscar.taps(label("operations.statistics.button_export"), message=day)
    await oscar.sees(like("staff.export.ask"))
    ordered = datetime.fromisoformat(str(row_of(kirim, order)["created_at"])).replace(tzinfo=UTC).astimezone(JAKARTA)
    month = label("staff.export.this_month" if ordered.month == now_in_jakarta().month else "staff.export.last_month")
    await oscar.taps(month)
    document = await oscar.sees(like("staff.export.caption"))
    name, (row,) = await download_table(oscar, document)
    assert re.fullmatch(rf"kirim-orders-{ordered:%Y-%m}-01-to-{ordered:%Y-%m}-\d\d\.csv", name)
    assert row["service_id"] == order["id"]
    assert (row["outcome"], row["idr"], row["sats"]) == ("sent", "500000", str(order["satAmount"]))
    assert not {"1234567890", str(emma.id)} & set(row.values())
    await oscar.taps(month)
    assert await oscar.count(like("staff.export.caption")) == 1, "a second tap sends no second file"
