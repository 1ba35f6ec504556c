"""Stories of orders in one line: clear parts are filled in, ambiguous parts are asked, and nothing is guessed."""

import asyncio

import pytest

from tests.chat.recipients.test_recipients import has_sent, is_called, its_bank_was
from tests.e2e.chat_user import ChatUser
from tests.e2e.orders.steps import DESTINATION_QUESTION, review_pattern
from tests.e2e.system import System
from tests.texts import like

pytestmark = pytest.mark.asyncio(loop_scope="session")

BCA = {"bank": "BCA · BANK CENTRAL ASIA", "number": "1234567890"}


def whole(holder: str) -> str:
    return review_pattern("en", amount="Rp500,000", holder=holder, **BCA)


def understood(parts: str) -> str:
    return like("checkout.one_line.understood", parts=parts)


async def test_a_saved_name_stands_for_bank_number_and_holder(shared_system: System) -> None:
    async def with_ibu() -> ChatUser:
        user = await has_sent(shared_system)
        await is_called(user, "Budi Santoso", "Ibu")
        return user

    async def said_whole() -> None:
        emma = await with_ibu()
        await emma.says("kirim ke IBU 500 ribu")
        await emma.sees(whole("Budi Santoso"))
        await emma.says("/send ibu")
        await emma.sees(
            f"{like('checkout.draft.replaced')}(?s:.*)"
            f"{like('checkout.amount.ask', recipient='BCA · 1234567890 · Budi Santoso')}"
        )
        await emma.says("/send 500rb bca 1234567890 Siti")
        await emma.sees(whole("Siti"))

    async def said_in_part() -> None:
        emma = await with_ibu()
        await emma.says("/send 500rb ib")
        await emma.sees(f"^{understood('Rp500,000')}\n\n{like('checkout.destination.several', query='ib')}")
        await its_bank_was(shared_system, emma, "BANK OF YORE")
        await emma.says("/send 500rb ibu")
        await emma.sees(
            f"{understood('Rp500,000')}\n{like('checkout.recipient.vanished', name='BANK OF YORE')}\n\n"
            f"(?:{DESTINATION_QUESTION})"
        )

    await asyncio.gather(said_whole(), said_in_part())
