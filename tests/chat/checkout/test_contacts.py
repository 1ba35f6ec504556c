"""Stories of shared contacts: an e-wallet's number with its name, or a clear message why it can't be used."""

import asyncio

import pytest

from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import DESTINATION_QUESTION, review_pattern, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")

SITI = like("checkout.contact.taken", parts="081234567890 · Siti Aminah")


async def at_number(shared_system: System, bank: str) -> ChatUser:
    user = await new_user(shared_system)
    await user.says("/send")
    await user.sees(DESTINATION_QUESTION)
    await user.says(bank)
    await user.sees(f"{like('checkout.number.ask_bank')}|{like('checkout.number.ask_ewallet')}")
    return user


async def test_a_contact_is_the_number_and_the_name_of_an_ewallet(shared_system: System) -> None:
    async def at_the_number(number: str) -> None:
        user = await at_number(shared_system, "gopay")
        await user.shares_contact(number, "Siti", last_name="Aminah")
        known = like("checkout.amount.ask", recipient="GoPay · 081234567890 · Siti Aminah")
        await user.sees(f"^{SITI}\n\n{known}")

    async def without_a_name_that_a_bank_prints() -> None:
        user = await at_number(shared_system, "dana")
        await user.shares_contact("+6281234567890", "❤️")
        await user.sees(like("checkout.holder.ask", recipient="DANA · 081234567890"))

    async def at_the_destination() -> None:
        user = await new_user(shared_system)
        await user.says("/send")
        await user.sees(DESTINATION_QUESTION)
        await user.shares_contact("6281234567890", "Siti Aminah", user_id=99)
        await user.sees(f"^{SITI}\n\n(?:{DESTINATION_QUESTION})")
        assert f"● {label('checkout.destination.kind.ewallet')}" in await user.buttons()
        await user.taps("OVO")
        await user.sees(like("checkout.amount.ask", recipient="OVO · 081234567890 · Siti Aminah"))

    async def outside_an_order() -> None:
        user = await new_user(shared_system)
        await user.shares_contact("+62 812-3456-7890", "Siti Aminah")
        await user.sees(f"^{SITI}\n\n(?:{DESTINATION_QUESTION})")
        await user.says("gopay")
        await user.sees(like("checkout.amount.ask"))
        await user.says("500rb")
        await user.sees(review_pattern(amount="Rp500,000", bank="GoPay", holder="Siti Aminah", number="081234567890"))

    async def at_a_bank_after_all() -> None:
        user = await new_user(shared_system)
        await user.shares_contact("+6281234567890", "Siti Aminah")
        await user.sees(SITI)
        await user.says("bca")
        await user.sees(f"{like('recipients.number.phone_at_bank')}\n\n{like('checkout.number.ask_bank')}")

    async def as_the_name_of_its_number() -> None:
        user = await at_number(shared_system, "gopay")
        await user.says("0812 3456 7890")
        await user.sees(like("checkout.holder.ask"))
        await user.shares_contact("+6281234567891", "Budi")
        await user.sees(f"{like('checkout.contact.other_number')}\n\n{like('checkout.holder.ask')}")
        await user.shares_contact("+6281234567890", "Siti Aminah")
        await user.sees(like("checkout.amount.ask", recipient="GoPay · 081234567890 · Siti Aminah"))

    await asyncio.gather(
        *map(at_the_number, ("+62 812-3456-7890", "6281234567890", "0812 3456 7890")),
        without_a_name_that_a_bank_prints(),
        at_the_destination(),
        outside_an_order(),
        at_a_bank_after_all(),
        as_the_name_of_its_number(),
    )


async def test_a_contact_that_cannot_be_used_is_explained_and_the_question_asked_again(shared_system: System) -> None:
    ewallet, bank = like("checkout.number.ask_ewallet"), like("checkout.number.ask_bank")

    async def explained(at: str, number: str, *shown: str) -> None:
        user = await at_number(shared_system, at)
        await user.shares_contact(number, "Siti")
        await user.sees("^" + "\n\n".join(shown))

    async def outside_an_order(number: str, shown: str) -> None:
        user = await new_user(shared_system)
        await user.shares_contact(number, "Siti")
        await user.sees(f"^{shown}")
        assert label("users.button.send") in await user.buttons()

    async def at_the_review() -> None:
        user = await new_user(shared_system)
        await tap_to_review(user)
        await user.shares_contact("+6281234567890", "Siti")
        await user.sees(f"^{like('checkout.contact.not_now')}\n\n{review_pattern(number='1234567890')}")

    await asyncio.gather(
        explained("bca", "+6281234567890", like("checkout.contact.at_bank"), bank),
        explained("gopay", "+491512345678", like("recipients.number.foreign", code="+49"), ewallet),
        explained("gopay", "491512345678", like("recipients.number.foreign", code="+49"), ewallet),
        explained("gopay", "819012345678", like("recipients.number.contact_unclear", number="819012345678"), ewallet),
        explained("gopay", "+62215551234", like("recipients.number.landline"), ewallet),
        explained("gopay", "", like("recipients.number.contact_without"), ewallet),
        outside_an_order("", like("recipients.number.contact_without")),
        outside_an_order("+491512345678", like("recipients.number.foreign", code="+49")),
        at_the_review(),
    )
