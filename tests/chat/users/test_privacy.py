"""The user's own data: shown, exported, and removed from the database's files when nothing is open."""

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, type_to_invoice, type_to_review
from tests.e2e.system import System
from tests.e2e.users.own_data import asks_to_be_deleted, becomes_unknown, rows_of
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


async def test_a_second_tap_deletes_nothing_else_and_leaves_nothing_behind(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await type_to_review(emma, number="7731004466")
    question = await asks_to_be_deleted(emma)
    _, yes = await emma.button(label("users.privacy.yes"))
    await asyncio.gather(emma.presses(question, yes), emma.presses(question, yes))
    await emma.sees(like("users.privacy.deleted"), anywhere=True)
    await becomes_unknown(shared_system, emma)
    # A user who started again keeps their new data, whatever old buttons are in the chat.
    await type_to_review(emma, number="7731004477")
    await emma.presses(question, yes, force=True)
    await emma.sees(like("users.privacy.done_before"))
    assert len(rows_of(shared_system, emma)["drafts"]) == 1


async def test_a_strangers_button_deletes_nobody(shared_system: System) -> None:
    emma, sari = await new_user(shared_system), await new_user(shared_system)
    await type_to_review(emma, number="7731004488")
    await type_to_review(sari, number="7731004499")
    await asks_to_be_deleted(emma)
    _, yes = await emma.button(label("users.privacy.yes"))
    await sari.says("/privacy")
    theirs = await sari.sees(like("users.privacy.text"))
    toast = await sari.presses(theirs, yes, force=True)
    assert toast["text"] == label("users.privacy.not_yours")
    assert {"users", "drafts"} <= rows_of(shared_system, sari).keys()
    assert {"users", "drafts"} <= rows_of(shared_system, emma).keys()


async def test_what_is_open_finishes_first_and_the_rest_happens_by_itself(shared_system: System) -> None:
    emma, number = await new_user(shared_system), "7731005511"
    _, order = await type_to_invoice(shared_system, emma, number=number)
    sealed = sealed_of(shared_system, emma)
    await asks_to_be_deleted(emma)
    await emma.sees(like("orders.privacy.open_first", count=1), anywhere=True)
    await emma.taps(label("users.privacy.yes"))
    noted = await emma.sees(like("users.privacy.noted"))
    assert "BCA ••••5511" in text_of(noted)
    assert says(text_of(noted), "orders.privacy.open_payable")
    await emma.taps(label("users.privacy.keep"))
    await emma.sees(like("users.privacy.kept"))
    await asks_to_be_deleted(emma)
    await emma.taps(label("users.privacy.yes"))
    await emma.sees(like("users.privacy.noted"))
    await shared_system.service.pays(order)
    await emma.sees(like("orders.notification.paid"), anywhere=True)
    assert rows_of(shared_system, emma)["users"]
    await complete_order(shared_system, order)
    await emma.sees(like("users.privacy.deleted"))
    told = [text_of(message) for message in await emma.messages()]
    sent = next(at for at, words in enumerate(told) if says(words, "orders.notification.sent_bank"))
    gone = next(at for at, words in enumerate(told) if says(words, "users.privacy.deleted"))
    assert sent < gone
    await becomes_unknown(shared_system, emma)
    assert find_texts(shared_system.state / "kirim.db", [number, *sealed]) == {}
    assert await emma.count(like("users.privacy.deleted")) == 1
