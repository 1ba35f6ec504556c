"""The user's own data: shown, exported, and removed from the database's files when nothing is open."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, type_to_invoice
from tests.e2e.system import System
from tests.e2e.users.own_data import asks_to_be_deleted, becomes_unknown
from tests.infra.on_disk import find_texts
from tests.texts import label, like, says, text
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.asyncio(loop_scope="session")


def sealed_of(shared_system: System, user: ChatUser) -> list[str]:
    """Return the sealed texts of a user's recipients."""
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        rows = database.execute(
            "SELECT number FROM orders WHERE user_id = :p UNION SELECT number FROM recipients WHERE user_id = :p"
            " UNION SELECT number FROM drafts WHERE user_id = :p AND number IS NOT NULL",
            {"p": user.id},
        )
        return [row[0] for row in rows]


async def sent_by(shared_system: System, user: ChatUser, number: str) -> tuple[Json, Json]:
    """Order and pay a transfer to `number`."""
    card, order = await type_to_invoice(shared_system, user, number=number)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    await user.sees(like("orders.notification.sent_bank"), anywhere=True)
    return card, order


async def file_of(user: ChatUser, message: Json) -> tuple[str, Json]:
    """Return a document's name and content."""
    answer = await user._http.get(f"/sandbox/files/{message['document']['file_id']}")
    return message["document"]["file_name"], json.loads(answer.raise_for_status().content)


async def test_a_user_sees_takes_along_and_deletes_everything_and_no_file_tells_of_it(shared_system: System) -> None:
    emma, number = await new_user(shared_system), "7731004455"
    _, order = await sent_by(shared_system, emma, number)
    sealed = sealed_of(shared_system, emma)
    assert find_texts(shared_system.state / "kirim.db", sealed), "the search finds what is there"
    assert find_texts(shared_system.state / "kirim.db", [number]) == {}

    await emma.says("/privacy")
    await emma.sees(like("users.privacy.text", how_long=text("users.privacy.for_days", count=365)))
    await emma.taps(label("users.privacy.see"))
    summary = await emma.sees(like("recipients.privacy.recipients", count=1) + "\n")
    assert "BCA ••••4455" in text_of(summary)
    assert number not in text_of(summary)

    await emma.taps(label("users.privacy.file"))
    name, content = await file_of(emma, await emma.sees(like("users.privacy.file_caption")))
    assert name == "kirim-data.json"
    assert content["profile"]["telegram_id"] == emma.id
    assert [each["number"] for each in content["recipients"]] == [number]
    assert [each["number"] for each in content["orders"]] == [number]
    assert content["orders"][0]["reference_at_the_service"] == order["id"]
    assert [step["state"] for step in content["orders"][0]["timeline"]][-1] == "COMPLETED"

    question = await asks_to_be_deleted(emma)
    assert says(text_of(question), "recipients.privacy.recipients", count=1)
    await emma.taps(label("users.privacy.yes"))
    await emma.sees(like("users.privacy.deleted"))
    await becomes_unknown(shared_system, emma)
    assert find_texts(shared_system.state / "kirim.db", [number, *sealed]) == {}
    kept = row_of(shared_system, order)
    assert (kept["state"], kept["user_id"], kept["chat_id"]) == ("COMPLETED", 0, 0)
    assert (kept["number"], kept["holder"], kept["bolt11"], kept["page_token"]) == ("", None, None, None)
