"""A sender edits what they typed. Edits aren't read, so the bot says what still counts."""

import pytest

from tests.chat.access import last_event, shown_since
from tests.chat.payment_requests.test_paying import an_open_link
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import type_to_review
from tests.e2e.system import System
from tests.texts import like, says, text

pytestmark = pytest.mark.asyncio(loop_scope="session")

EDITED = like("checkout.chat.edited")


async def is_silent_about(user: ChatUser, system: System, line: Json, edited: str) -> bool:
    """Edit a message, and return whether nothing is said about it."""
    before = await last_event(system)
    await user.edits(line, edited)
    await user.says("/id")  # handled after the edit
    await user.sees(like("users.id.own", id=str(user.id)))
    return not any(says(text_of(each), "checkout.chat.edited") for each in await shown_since(system, before, [user.id]))


async def test_an_edited_line_is_answered_once_with_the_review_that_still_counts(shared_system: System) -> None:
    emma = await new_user(shared_system)
    line = await emma.says("/send 300rb bca 1234567890 Budi")
    await emma.sees(like("checkout.review.title"))
    await emma.edits(line, "/send 30rb bca 1234567890 Budi")
    shown = text_of(await emma.sees(EDITED))
    assert "Rp300,000" in shown
    assert text("checkout.review.title") in shown
    assert await is_silent_about(emma, shared_system, line, "/send 3rb bca 1234567890 Budi")


async def test_an_edit_that_changes_no_text_or_is_of_an_earlier_answer_says_nothing(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await type_to_review(emma, number="1234567890", amount="300rb")
    typed = {each["text"]: each for each in await emma.messages() if each.get("text") in {"1234567890", "300rb"}}
    await emma.edits(typed["300rb"], "300rb")  # as a preview does
    assert await is_silent_about(emma, shared_system, typed["1234567890"], "1234567899")
    await emma.edits(typed["300rb"], "30rb")  # another screen is the newest by now, and the sum still counts
    assert "Rp300,000" in text_of(await emma.sees(EDITED))


async def test_an_edited_line_that_asks_for_rupiah_is_answered_with_what_still_counts(shared_system: System) -> None:
    sari = await new_user(shared_system)
    line = await sari.says("minta 300rb bca 7731004455 Sari Dewi")
    await sari.sees(like("payment_requests.ask.note"))
    await sari.edits(line, "minta 30rb bca 7731004455 Sari Dewi")
    await sari.sees(EDITED)
    assert await is_silent_about(sari, shared_system, line, "kirim 30rb bca 7731004455 Sari Dewi")


async def test_a_payer_who_edits_the_sum_reads_that_the_first_one_counts(shared_system: System) -> None:
    sari, emma = await new_user(shared_system), await new_user(shared_system)
    link = await an_open_link(sari)
    await emma.says(f"/start {link}")
    await emma.sees(like("payment_requests.pay.ask_amount"))
    typed = await emma.says("300rb")
    await emma.sees("Rp300,000")
    await emma.edits(typed, "30rb")
    await emma.sees(like("checkout.chat.edited_above"))
