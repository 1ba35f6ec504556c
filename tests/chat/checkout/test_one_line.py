"""Stories of orders in one line: clear parts are filled in, ambiguous parts are asked, and nothing is guessed."""

import asyncio
import re

import pytest

from tests.chat.recipients.test_recipients import has_sent, is_called, its_bank_was
from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import DESTINATION_QUESTION, review_pattern
from tests.e2e.system import System
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="session")

BCA = {"bank": "BCA · BANK CENTRAL ASIA", "number": "1234567890"}
UNNAMED = text("recipients.review.no_holder")


def whole(holder: str) -> str:
    return review_pattern("en", amount="Rp500,000", holder=holder, **BCA)


def understood(parts: str) -> str:
    return like("checkout.one_line.understood", parts=parts)


async def says(shared_system: System, *lines: str) -> ChatUser:
    """Return a new user who has sent this text."""
    user = await new_user(shared_system)
    for line in lines:
        await user.says(line)
    return user


async def test_what_is_missing_or_doubtful_is_asked_with_what_was_understood_said_back(shared_system: System) -> None:
    async def asked(line: str, *paragraphs: str) -> ChatUser:
        """Wait for an answer of these paragraphs. The last one can be longer."""
        user = await says(shared_system, f"/send {line}")
        await user.sees("^" + "\n\n".join(paragraphs))
        return user

    async def sum_is_missing() -> None:
        user = await asked("bca 1234567890 Budi", like("checkout.amount.ask", recipient="BCA · 1234567890 · Budi"))
        await user.says("500rb")
        await user.sees(whole("Budi"))

    async def sum_is_ambiguous() -> None:
        twice = like("checkout.amount.is_it", text="1.500")
        user = await asked("1.500 bca 1234567890", understood("BCA · 1234567890"), twice)
        await user.taps("Rp1,500,000")
        await user.sees(review_pattern("en", amount="Rp1,500,000", **BCA))

    async def number_is_unusual() -> None:
        doubt = like("checkout.number.doubt", name="BCA", number="123456789")
        user = await asked("500rb bca 123456789 Budi", understood("Rp500,000 · BCA · 123456789 · Budi"), doubt)
        assert await user.count(like("recipients.number.unusual_length", actual=9)) == 1
        await user.taps(label("checkout.number.use_it"))
        await user.sees(review_pattern(number="123456789", holder="Budi"))

    async def destination_is_missing() -> None:
        known = understood("Rp500,000 · 1234567890 · Budi")
        user = await asked("500rb 1234567890 Budi", known, like("checkout.destination.ask"))
        await user.says("bca")
        await user.sees(whole("Budi"))

    async def destination_is_ambiguous() -> None:
        known = understood("Rp500,000 · 1234567890 · Budi")
        user = await asked("500rb bca bni 1234567890 Budi", known, like("checkout.destination.which"))
        assert (await user.buttons())[:2] == ["BCA", "BNI"]
        await user.says("/rate")
        await user.sees(like("rates.btc", rate="Rp"))
        await user.taps(label("checkout.draft.continue"))
        await user.sees("^" + like("checkout.destination.ask"))
        await user.taps("BCA")
        await user.sees(whole("Budi"))

    async def sum_is_too_small() -> None:
        refused = like("orders.amount.below_minimum", minimum=20_000)
        user = await asked("Rp5000 bca 1234567890", refused, like("checkout.amount.ask"))
        await user.says("500rb")
        await user.sees(whole(UNNAMED))

    def leftover(words: str | re.Pattern[str]) -> str:
        return like("checkout.one_line.leftover", text=words)

    numbers = f"{understood('Rp500,000 · BCA')}\n{leftover('1234567890 0987654321')}.*"
    landline = f"{understood('Rp500,000 · GoPay')}\n{like('recipients.number.landline')}"
    await asyncio.gather(
        sum_is_missing(),
        sum_is_ambiguous(),
        number_is_unusual(),
        destination_is_missing(),
        destination_is_ambiguous(),
        sum_is_too_small(),
        asked("500rb bca 1234567890 0987654321", numbers, ""),
        asked("hello there", leftover("hello there"), like("checkout.destination.ask")),
        asked("🏦" * 2000, leftover(re.compile("🏦+…")), like("checkout.destination.ask")),
        asked("500rb gopay 021 3456789", landline, like("checkout.number.ask_ewallet")),
    )


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
