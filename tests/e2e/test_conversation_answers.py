"""Every question, with what people really answer: the right, the doubtful, the wrong and the impossible."""

import asyncio

import pytest

from tests.e2e.people import Newcomer, newcomer
from tests.e2e.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


def wide(text: str) -> str:
    """In full-width characters, as East Asian keyboards have them."""
    return "".join(chr(ord(character) + 0xFEE0) for character in text)


async def at_number(town: World, bank: str) -> Newcomer:
    """Somebody who has chosen a destination."""
    person = await newcomer(town)
    await person.says("/send")
    await person.sees("Where should it go")
    await person.says(bank)
    await person.sees("Which (account|mobile) number")
    return person


async def at_amount(town: World, bank: str = "bca", number: str = "1234567890") -> Newcomer:
    """Somebody who is asked how much."""
    person = await at_number(town, bank)
    await person.says(number)
    await person.sees("Whose account")
    await person.taps("Skip")
    await person.sees("How much should arrive")
    return person


async def test_a_typed_name_finds_the_right_destination(town: World) -> None:
    typed = {
        "bca": r"^BCA · BANK CENTRAL ASIA\n",
        "mandri": r"^Mandiri · BANK MANDIRI\n",
        "gopay": r"^GoPay\n\nWhich mobile number",
        "seabank": r"^SeaBank · SEABANK INDONESIA\n",
        f"{wide('BNI')}\u200b": r"^BNI · BANK NEGARA INDONESIA\n",
        "BCA syariah": r"BCA SYARIAH\n",
    }

    async def finds(query: str, shown: str) -> None:
        person = await newcomer(town)
        await person.says("/send")
        await person.sees("Where should it go")
        await person.says(query)
        await person.sees(shown)

    await asyncio.gather(*(finds(query, shown) for query, shown in typed.items()))


async def test_several_hits_are_offered_and_unknown_names_asked_again(town: World) -> None:
    async def several() -> None:
        person = await newcomer(town)
        await person.says("/send")
        await person.sees("Where should it go")
        await person.says("syariah")
        await person.sees("Which one do you mean by “syariah”")
        labels = await person.buttons()
        assert len(labels) > 4
        assert "Show the whole list" in labels
        await person.taps(labels[0])
        await person.sees("Which account number")

    async def unknown() -> None:
        person = await newcomer(town)
        await person.says("/send")
        await person.sees("Where should it go")
        await person.says("<b>xyzzy</b> & \u202eco")
        await person.sees("I don't know “<b>xyzzy</b> & co”.*\n\nWhere should it go")

    async def in_pictures() -> None:
        person = await newcomer(town)
        await person.says("/send")
        await person.sees("Where should it go")
        await person.says("🏦" * 2048)
        await person.sees("I don't know “🏦+…”(?s:.*)Where should it go")

    async def leafs() -> None:
        person = await newcomer(town)
        await person.says("/send")
        await person.sees("Where should it go")
        assert "● Banks" in await person.buttons()
        first = await person.buttons()
        await person.taps("Next")
        await person.waits_for(lambda _: True)
        assert "2 / 13" in str(await person.buttons())
        assert not set(first[2:10]) & set(await person.buttons())
        await person.taps("E-wallets")
        await person.waits_for(lambda message: "● E-wallets" in str(message))
        await person.taps("OVO")
        await person.sees("OVO\n\nWhich mobile number")

    await asyncio.gather(several(), unknown(), in_pictures(), leafs())


async def test_numbers_are_cleaned_and_shown_back_and_doubts_are_questions(town: World) -> None:
    async def answered(bank: str, number: str, shown: str) -> None:
        person = await at_number(town, bank)
        await person.says(number)
        await person.sees(shown)

    async def doubted() -> None:
        person = await at_number(town, "bca")
        await person.says("123-456 789")
        await person.sees("BCA · 123456789\n\nBCA numbers usually have 10 digits; this has 9.\nIs it right")
        await person.says("123 456 78")
        await person.sees("12345678\n\nBCA numbers usually have 10 digits; this has 8")
        await person.taps("Yes, use this number")
        await person.sees("^BCA · 12345678\n\nWhose account")

    whose, which = "\n\nWhose account is it", "\n\nWhich account number"
    await asyncio.gather(
        doubted(),
        answered("bca", "123-456 7890", f"^BCA · 1234567890{whose}"),
        answered("bca", f"\u202a{wide('12345')} 67890\u202c", f"^BCA · 1234567890{whose}"),
        answered("bca", "12ab", f"digits only.*\n\nBCA · BANK CENTRAL ASIA{which}"),
        answered("bca", "1234", f"least there can be.*\n\nBCA · BANK CENTRAL ASIA{which}"),
        answered("bca", "🙈" * 2048, "I see no digits"),
        answered("gopay", "+62 812-3456-7890", f"^GoPay · 081234567890{whose}"),
        answered("gopay", "62812 3456 7890", f"^GoPay · 081234567890{whose}"),
        answered("ovo", wide("081234567890"), f"^OVO · 081234567890{whose}"),
        answered("dana", "021 3456789", "That is a landline"),
        answered("dana", "+60 12-345 6789", r"another country \(\+60\)"),
    )


async def test_a_holders_name_is_welcome_and_never_required(town: World) -> None:
    async def named(typed: str, shown: str) -> None:
        person = await at_number(town, "bca")
        await person.says("1234567890")
        await person.sees("Whose account")
        await person.says(typed)
        await person.sees(shown)

    await asyncio.gather(
        named("  budi   santoso ", "BCA · 1234567890 · budi santoso\n\nHow much"),
        named("<b>Budi</b> & Co", "Banks print letters only(?s:.*)Whose account"),
        named("O'Neil & Sons", "· O'Neil & Sons\n\nHow much"),
        named("😀" * 2048, "(?s)Whose account"),
        named("12345", "doesn't look like a name(?s:.*)Whose account"),
    )


async def test_an_amount_is_read_as_it_is_meant_or_asked_back(town: World) -> None:
    async def sure(typed: str, shown: str) -> None:
        person = await at_amount(town)
        await person.says(typed)
        await person.sees(f"Please check\n\nArrives: {shown}")

    async def doubtful(typed: str, *readings: str) -> None:
        person = await at_amount(town)
        await person.says(typed)
        await person.sees(f"“{typed}” can be read in more than one way")
        assert (await person.buttons())[: len(readings)] == list(readings)

    surely = {
        "150rb": "Rp150,000\n",
        "150 ribu": "Rp150,000\n",
        "150k": "Rp150,000\n",
        "1,5jt": "Rp1,500,000\n",
        "2 juta": "Rp2,000,000\n",
        "Rp 1.500.000": "Rp1,500,000\n",
        "1.500.000,00": "Rp1,500,000\n",
        "Rp50.000,-": "Rp50,000\n",
        "25000 sats": "about Rp[0-9,]+\n",
        "25k sat": "about Rp[0-9,]+\n",
        "0.0005 btc": "about Rp[0-9,]+\n",
    }
    await asyncio.gather(
        *(sure(typed, shown) for typed, shown in surely.items()),
        doubtful("1.500", "Rp1,500", "Rp1,500,000"),
        doubtful("1m", "Rp1,000,000", "Rp1,000,000,000"),
        doubtful("50.00", "Rp5,000", "Rp50,000"),
    )


async def test_amounts_that_do_not_fit_are_refused_with_the_one_that_would(town: World) -> None:
    async def refused(typed: str, shown: str, bank: str = "bca", number: str = "1234567890") -> None:
        person = await at_amount(town, bank, number)
        await person.says(typed)
        await person.sees(f"(?s){shown}.*How much should arrive")

    async def chosen() -> None:
        person = await at_amount(town)
        await person.says("1.500")
        await person.sees("Which one is it")
        await person.taps("Rp1,500,000")
        await person.sees("Arrives: Rp1,500,000")
        await person.taps("Amount")
        await person.sees("How much should arrive")
        await person.taps("Rp50,000")
        await person.sees("Arrives: Rp50,000")

    await asyncio.gather(
        chosen(),
        refused("19.999", "The smallest amount is Rp20,000"),
        refused("100 sats", "The smallest amount is Rp20,000"),
        refused("21jt", "GoPay takes Rp20,000,000 at the most", "gopay", "081234567890"),
        refused("-50000", "more than zero"),
        refused("lots of money", "couldn't read an amount"),
        refused("💸" * 2048, "couldn't read an amount"),
        refused("<b>5</b>", "couldn't read an amount"),
        refused("999999999jt", "more than can be sent at once|at the most"),
    )
