"""Stories of what people type, and what they then see: lines with missing parts, and lines in place of an answer."""

import asyncio

import pytest

from tests.e2e.chat_user import ChatUser
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import review_pattern, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="session")

GOPAY = {"bank": "GoPay", "number": "081234567890"}
BCA = {"bank": "BCA · BANK CENTRAL ASIA", "number": "1234567890"}


def understood(parts: str, locale: str = "en") -> str:
    return like("checkout.one_line.understood", locale, parts=parts)


async def test_a_plain_line_keeps_what_was_understood_and_asks_the_rest(shared_system: System) -> None:
    async def asked(line: str, *shown: str) -> ChatUser:
        user = await new_user(shared_system)
        await user.says(line)
        await user.sees("^" + "(?s:.*)".join(shown))
        return user

    async def person_is_not_saved() -> None:
        not_saved = like("checkout.one_line.not_saved", text="ibu")
        await asked(
            "kirim 250 ribu ke ibu di gopay 081234567890", not_saved, review_pattern(amount="Rp250,000", **GOPAY)
        )

    async def has_a_note() -> None:
        for line, note in (
            ("500k bca 1234567890 for rent", "rent"),
            ("500rb bca 1234567890 buat bayar kos", "bayar kos"),
        ):
            no_note = like("checkout.one_line.no_note", text=note)
            await asked(line, no_note, review_pattern(amount="Rp500,000", **BCA))

    async def number_is_too_short() -> None:
        short, is_it = (
            like("checkout.one_line.short_number", text="123"),
            like("checkout.amount.is_it", amount="Rp500,000"),
        )
        user = await asked("500rb bca 123", understood("BCA"), short, is_it)
        await user.taps("Rp500,000")
        await user.sees(like("checkout.number.ask_bank"))
        await user.says("1234567890")
        await user.sees(like("checkout.holder.ask"))
        await user.says("Budi")
        await user.sees(review_pattern(amount="Rp500,000", holder="Budi", **BCA))

    async def number_is_missing() -> None:
        user = await asked("500rb bca", understood("Rp500,000 · BCA"), like("checkout.number.ask_bank"))
        await user.says("1234567890 a.n. Budi")
        await user.sees(review_pattern(amount="Rp500,000", holder="Budi", **BCA))

    async def person_is_unknown() -> None:
        user = await asked(
            "kirim 300rb ke mama",
            like("checkout.one_line.who_is", text="mama", parts="Rp300,000"),
            like("checkout.destination.ask"),
        )
        await user.says("gopay 081234567890")
        await user.sees(review_pattern(amount="Rp300,000", **GOPAY))

    async def sum_goes_back() -> None:
        user = await asked("500rb bca 123", understood("BCA"), like("checkout.amount.is_it"))
        await user.taps(label("users.button.back"))
        await user.sees(like("checkout.number.ask_bank"))

    await asyncio.gather(
        person_is_not_saved(),
        has_a_note(),
        number_is_too_short(),
        number_is_missing(),
        person_is_unknown(),
        sum_goes_back(),
        *(
            asked(line, like("checkout.one_line.who_gets", amount="Rp500,000"), like("checkout.destination.ask"))
            for line in ("send 500k", "500rb", "500000", "500 ribu ya")
        ),
        *(
            asked(line, like("checkout.one_line.who_is", text=who, parts="Rp500,000"), like("checkout.destination.ask"))
            for line, who in (("ibu 500rb", "ibu"), ("500rb buat ibu", "ibu"), ("mom 500k", "mom"))
        ),
        asked("kirim duit ke ibu", like("checkout.one_line.who_is", text="ibu", parts="").removesuffix("\\ ")),
        asked("kirim ke gopay", understood("GoPay"), like("checkout.number.ask_ewallet")),
        asked("bca", understood("BCA"), like("checkout.number.ask_bank")),
    )


async def test_what_is_typed_at_the_review_changes_it_and_never_orders(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma, number="7731002211")
    review, confirm = await emma.button(label("checkout.review.confirm"))
    await emma.says("750rb")
    await emma.sees(review_pattern(amount="Rp750,000", number="7731002211"))
    old = await emma.presses(review, confirm, force=True)
    assert old["text"] == label("users.stale.button")
    await emma.says("jadi 800rb")
    await emma.sees(review_pattern(amount="Rp800,000", number="7731002211"))
    await emma.says("1.500")
    await emma.sees(like("checkout.amount.is_it", text="1.500", amount="Rp1,500,000"))
    await emma.taps(label("users.button.back"))
    await emma.sees(review_pattern(amount="Rp800,000"))
    await emma.says("5rb")
    await emma.sees(f"{like('orders.amount.below_minimum', minimum=20_000)}\n\n{like('checkout.amount.ask')}")
    await emma.says("900rb")
    await emma.sees(review_pattern(amount="Rp900,000"))
    await emma.says("gopay 081234567890")
    await emma.sees(review_pattern(amount="Rp900,000", **GOPAY))
    for typed in ("yes", "ya", "confirm", "ok lanjut", "kenapa 900rb?"):
        await emma.says(typed)
        await emma.sees(f"^{like('checkout.review.press')}\n\n{review_pattern(amount='Rp900,000', **GOPAY)}")
    await emma.says("650rb")
    await emma.sees(review_pattern(amount="Rp650,000", **GOPAY))
    assert await shared_system.service.orders("7731002211") == []
    assert await shared_system.service.orders("081234567890") == []
