"""A whole order in one line: what is understood is filled in, what is doubtful is asked, and nothing is guessed."""

import asyncio

import pytest

from tests.e2e.people import Newcomer, newcomer
from tests.e2e.test_recipients import has_sent, is_called, its_bank_was
from tests.e2e.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

WHOLE = r"(?s)Please check\n\nArrives: Rp500,000\nAt: BCA .*Number: 1234567890\nName: "


async def says(town: World, *lines: str) -> Newcomer:
    """Somebody new who writes this."""
    person = await newcomer(town)
    for line in lines:
        await person.says(line)
    return person


async def test_a_whole_line_goes_straight_to_the_review_whatever_the_order_of_its_parts(town: World) -> None:
    async def reviewed(line: str, name: str) -> None:
        person = await says(town, line)
        await person.sees(WHOLE + name)

    before = len(await town.service.orders())
    await asyncio.gather(
        reviewed("/send 500rb bca 1234567890 Budi", "Budi\n"),
        reviewed("/send Budi Santoso, 123-456 7890 BCA Rp500.000", "Budi Santoso\n"),
        reviewed("/send\nbca\n1234567890\na/n Budi\n500 ribu", "Budi\n"),
        reviewed("/send 🙏 tolong kirim 500rb ke bca 1234567890", "not given\n"),
        reviewed("500rb bca 1234567890 Budi", "Budi\n"),
        reviewed("bca 1234567890 500.000", "not given\n"),
    )
    assert len(await town.service.orders()) == before  # nothing is placed without the review's button


async def test_what_is_missing_or_doubtful_is_asked_with_what_was_understood_said_back(town: World) -> None:
    async def asked(line: str, shown: str) -> Newcomer:
        person = await says(town, f"/send {line}")
        await person.sees(shown)
        return person

    async def sum_is_missing() -> None:
        person = await asked("bca 1234567890 Budi", r"^BCA · 1234567890 · Budi\n\nHow much")
        await person.says("500rb")
        await person.sees(WHOLE + "Budi")

    async def sum_is_doubtful() -> None:
        person = await asked("1.500 bca 1234567890", "^☑️ BCA · 1234567890\n\n“1.500” can be read in more than one way")
        await person.taps("Rp1,500,000")
        await person.sees("(?s)Please check.*Rp1,500,000.*1234567890")

    async def number_is_doubtful() -> None:
        person = await asked("500rb bca 123456789 Budi", "^☑️ Rp500,000 · BCA · 123456789 · Budi\n\nBCA · 123456789")
        assert await person.count("has 9") == 1
        await person.taps("Yes, use this number")
        await person.sees("(?s)Please check.*Number: 123456789\nName: Budi")

    async def destination_is_missing() -> None:
        person = await asked("500rb 1234567890 Budi", "^☑️ Rp500,000 · 1234567890 · Budi\n\nWhere should it go")
        await person.says("bca")
        await person.sees(WHOLE + "Budi")

    async def destination_is_doubtful() -> None:
        person = await asked("500rb bca bni 1234567890 Budi", "^☑️ Rp500,000 · 1234567890 · Budi\n\nWhich one do you")
        assert (await person.buttons())[:2] == ["BCA", "BNI"]
        await person.says("/rate")
        await person.sees("1 BTC = Rp")
        await person.taps("Continue")
        await person.sees("^Where should it go")
        await person.taps("BCA")
        await person.sees(WHOLE + "Budi")

    async def sum_is_too_small() -> None:
        person = await asked("Rp5000 bca 1234567890", "(?s)^The smallest amount is Rp20,000.*How much should arrive")
        await person.says("500rb")
        await person.sees(WHOLE)

    await asyncio.gather(
        sum_is_missing(),
        sum_is_doubtful(),
        number_is_doubtful(),
        destination_is_missing(),
        destination_is_doubtful(),
        sum_is_too_small(),
        asked(
            "500rb bca 1234567890 0987654321", "^☑️ Rp500,000 · BCA\nI didn't understand “1234567890 0987654321”.*\n\n"
        ),
        asked("hello there", "^I didn't understand “hello there”.\n\nWhere should it go"),
        asked("🏦" * 2000, "^I didn't understand “🏦+…”.\n\nWhere should it go"),
        asked("500rb gopay 021 3456789", "(?s)^☑️ Rp500,000 · GoPay\nThat is a landline.*Which mobile number"),
    )


async def test_a_line_is_taken_where_the_destination_is_asked_for(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("bca 1234567890 Budi 500rb")
    await emma.sees(WHOLE + "Budi")
    await emma.taps("Destination")
    await emma.sees("Where should it go")
    await emma.says("mandiri 1234567890123")
    await emma.sees("(?s)Please check.*Rp500,000.*Mandiri.*Number: 1234567890123\nName: not given")


async def test_a_line_takes_the_place_of_an_unfinished_order_and_says_so(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("gopay")
    await emma.sees("Which mobile number")
    await emma.says("/send 500rb bca 1234567890 Budi")
    await emma.sees("(?s)^Your unfinished order was put aside for this one.\n\nPlease check.*1234567890\nName: Budi")


async def test_what_is_no_order_starts_none(town: World) -> None:
    async def greeted(text: str) -> None:
        person = await says(town, text)
        await person.sees("^👋 Kirim sends rupiah")

    async def edited() -> None:
        person = await newcomer(town)
        message = await person.says("thanks")
        await person.sees("Kirim sends rupiah")
        await person.edits(message, "500rb bca 1234567890")
        await person.says("/status")
        await person.sees("No orders are under way")
        assert await person.count("Please check") == 0

    await asyncio.gather(
        edited(),
        greeted("did the 500rb to bca 1234567890 arrive?"),
        greeted("call me on 081234567890"),
        greeted("500rb"),
        greeted("bca 1234567890 " * 250),
    )


async def test_a_saved_name_stands_for_bank_number_and_holder(town: World) -> None:
    async def with_ibu() -> Newcomer:
        person = await has_sent(town)
        await is_called(person, "Budi Santoso", "Ibu")
        return person

    async def said_whole() -> None:
        emma = await with_ibu()
        await emma.says("kirim ke IBU 500 ribu")
        await emma.sees(WHOLE + "Budi Santoso")
        await emma.says("/send ibu")
        await emma.sees("(?s)put aside.*BCA · 1234567890 · Budi Santoso\n\nHow much")
        await emma.says("/send 500rb bca 1234567890 Siti")
        await emma.sees(WHOLE.replace("Please", ".*Please") + "Siti")

    async def said_in_part() -> None:
        emma = await with_ibu()
        await emma.says("/send 500rb ib")
        await emma.sees("^☑️ Rp500,000\n\nWhich one do you mean by “ib”")
        its_bank_was(town, emma, "BANK OF YORE")
        await emma.says("/send 500rb ibu")
        await emma.sees("(?s)☑️ Rp500,000\nBANK OF YORE isn't on the list.*Where should it go")

    await asyncio.gather(said_whole(), said_in_part())
