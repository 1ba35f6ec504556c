"""To taste: a phrase of one's own, one's language and time zone, and which news come with sound, silently, or not."""

import asyncio
import re
import time

import pytest

from bot.domain.phrase import suggested
from tests.e2e.people import Newcomer, completes, newcomer, taps_to_invoice, taps_to_review
from tests.e2e.world import LOOK_EVERY, PATIENCE, Json, World, words_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


def phrase_in(text: str) -> str:
    found = re.search(
        r"(?:bear a phrase.*: |How about |Your phrase: |🔐 )([a-z]+ [a-z]+ [a-z]+)(?:\?| is your|\n|$)", text
    )
    assert found, text
    return found[1]


def is_silent(message: Json) -> bool:
    return bool(message["sandbox"]["silent"])


async def where_it_stands(person: Newcomer, phrase: str) -> list[str]:
    """The first words of each message that holds the phrase, besides invoices and receipts."""
    texts = [each["text"] for each in await person.messages() if "text" in each]
    return [text.split("\n")[0] for text in texts if phrase in text]


async def test_a_phrase_is_chosen_in_one_tap_or_in_ones_own_words_and_stands_on_every_invoice(town: World) -> None:
    await asyncio.gather(
        had_in_one_tap_and_on_the_invoice_alone(town),
        given_with_the_first_order_and_explained(town),
        suggested_at_the_start_and_given_without_a_press(town),
        explained_still_after_a_second_tap(town),
        of_ones_own_words_beside_a_draft(town),
        not_taken_from_what_is_typed_after_a_command(town),
        changed_and_on_the_next_invoice(town),
    )


async def test_news_and_times_come_as_a_person_likes_them(town: World) -> None:
    await asyncio.gather(
        told_as_chosen(town),
        trouble_is_told_and_a_double_tap_is_one_change(town),
        times_follow_the_zone_that_was_typed(town),
        forged_buttons_change_nothing(town),
    )


async def had_in_one_tap_and_on_the_invoice_alone(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/start")
    welcome = words_of(await emma.sees("Kirim sends rupiah"))
    phrase = phrase_in(welcome)
    assert await emma.buttons() == [
        "Send rupiah",
        "Use this one",
        "Another",
        "My own words",
        "🌐 Bahasa Indonesia",
        "⚙️ Settings",
    ]
    await emma.taps("Use this one")
    await emma.sees(f"{phrase} is your phrase now")
    await emma.says("/start")
    await emma.sees("Kirim sends rupiah")
    assert "Use this one" not in await emma.buttons()
    _, order = await taps_to_invoice(town, emma)
    invoice = await emma.sees("lnbcrt", anywhere=True)
    assert f"Your phrase: {phrase}" in words_of(invoice)
    await town.service.pays(order)
    await completes(town, order)
    await emma.sees("some banks take longer")
    stands = await where_it_stands(emma, phrase)
    assert [begins[0] for begins in stands] == ["🔐", "A", "✅"]  # as chosen, above the first invoice, as sent
    assert phrase not in town.log.read_text()


async def given_with_the_first_order_and_explained(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_invoice(town, emma)
    invoice = words_of(await emma.sees("lnbcrt", anywhere=True))
    phrase = phrase_in(invoice)
    confirmed = await emma.sees("Confirmed", anywhere=True)
    assert f"{phrase} is your phrase. It stands on every real invoice" in words_of(confirmed)
    await emma.says("/send")
    await emma.taps("••••7890")
    await emma.taps("Rp500,000")
    await emma.taps("Confirm")
    await emma.sees_times(2, f"Your phrase: {phrase}")
    await emma.sees_times(1, f"{phrase} is your phrase")  # it is explained once


async def suggested_at_the_start_and_given_without_a_press(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/start")
    code = await _suggested_code(emma)
    await emma.says("/start")
    assert await _suggested_code(emma) == code
    await emma.says("/phrase")
    assert await _suggested_code(emma) == code
    phrase = suggested(code)
    assert phrase
    await taps_to_invoice(town, emma)
    assert phrase in words_of(await emma.sees("lnbcrt", anywhere=True))


async def _suggested_code(person: Newcomer) -> str:
    """The phrase that the newest message suggests, as its button has it."""
    message = await person.waits_for(lambda each: "ph:use:" in str(each.get("reply_markup")))
    found = re.search(r"ph:use:([a-z0-9-]+)", str(message["reply_markup"]))
    assert found is not None
    return found[1]


async def explained_still_after_a_second_tap(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_review(emma)
    review, confirm = await emma.button("Confirm")
    await asyncio.gather(emma.presses(review, confirm, force=True), emma.presses(review, confirm, force=True))
    await emma.sees("lnbcrt")
    shown = await emma.finds(review)
    assert shown is not None
    assert "is your phrase. It stands on every real invoice" in words_of(shown)
    assert await emma.count("Your phrase: ") == 1


async def of_ones_own_words_beside_a_draft(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("bca")
    await emma.sees("Which account number")
    await emma.says("/phrase")
    await emma.sees("How about")
    await emma.taps("My own words")
    await emma.sees("Which words")
    refusals = {
        "see kirim.example": "Links and @names",
        "kopi tubruk ungu": "Others would guess",
        "🙈" * 4000: "4,000 characters, and 40",
    }
    for typed, reason in refusals.items():
        await emma.says(typed)
        await emma.sees(f"{reason}(.|\n)*Which words")
    await emma.sends_a_sticker()
    await emma.sees("I can only read text")
    await emma.says("  Nasi goreng &  teh   manis ")
    await emma.sees("Nasi goreng & teh manis is your phrase now")
    await emma.taps("Continue")
    await emma.sees("Which account number")
    await emma.says("1234567890")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("How much")
    await emma.says("500rb")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    assert "Your phrase: Nasi goreng & teh manis" in words_of(await emma.sees("lnbcrt"))


async def not_taken_from_what_is_typed_after_a_command(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/phrase")
    await emma.taps("My own words")
    await emma.sees("Which words")
    await emma.says("/rate")
    await emma.sees("1 BTC =")
    await emma.says("hujan di bulan juni")
    await emma.sees("Kirim sends rupiah")
    await emma.says("/phrase")
    assert "hujan" not in words_of(await emma.sees("How about"))


async def changed_and_on_the_next_invoice(town: World) -> None:
    sari = await newcomer(town, "id")
    await sari.says("/start")
    await sari.taps("Yang lain")
    await sari.sees("Bagaimana kalau")
    await sari.taps("Pakai yang ini")
    first = re.search(r"sekarang: (.*)\n", words_of(await sari.sees("Frasa pribadi sekarang")))
    await sari.taps("Pengaturan")
    await sari.sees("⚙️ Pengaturan")
    await sari.taps("Frasa pribadi")
    assert first
    await sari.sees(f"Frasa pribadi: {first[1]}")
    await sari.taps("Kata sendiri")
    await sari.says("kucing tetangga gendut")
    await sari.sees("sekarang: kucing tetangga gendut")
    await sari.says("/language")
    await sari.taps("English")
    await sari.sees("Kirim sends rupiah")
    await taps_to_invoice(town, sari)
    invoice = words_of(await sari.sees("lnbcrt", anywhere=True))
    assert "Your phrase: kucing tetangga gendut" in invoice
    assert first[1] not in invoice


async def choose(person: Newcomer, *taps: tuple[str, int]) -> None:
    """Open the notices, and tap these lines so many times."""
    await person.says("/settings")
    await person.sees("⚙️ Settings")
    await person.taps("Notices")
    await person.sees("How would you like to hear")
    for label, times in taps:
        for _ in range(times):
            message, _ = await person.button(label)
            before = await person.labels_of(message)
            await person.taps(label)
            deadline = time.monotonic() + PATIENCE
            while await person.labels_of(message) == before:
                assert time.monotonic() < deadline, label
                await asyncio.sleep(LOOK_EVERY)


async def told_as_chosen(town: World) -> None:
    emma, rina = await newcomer(town), await newcomer(town)
    await choose(emma, ("Payment received", 2), ("Steps in between", 1), ("Rupiah sent", 1))
    assert {"📄 Payment received", "🔔 Steps in between", "🔕 Rupiah sent"} <= set(await emma.buttons())
    assert "As usual again" in await emma.buttons()
    placed = []
    for person in (emma, rina):
        card, order = await taps_to_invoice(town, person)
        placed.append(order)
        await town.service.pays(order)
        await person.waits_for(lambda message: "Your payment is in" in words_of(message), anywhere=True)
        assert (await person.finds(card)) is not None
    assert not is_silent(await rina.sees("⚡(.|\n)*Payment received", anywhere=True))
    for order in placed:
        await town.service.does("advance", orderId=order["id"])
    assert not is_silent(await emma.sees("Your payment is being converted", anywhere=True))
    for order in placed:
        await completes(town, order)
    assert is_silent(await emma.sees("some banks take longer", anywhere=True))
    assert not is_silent(await rina.sees("some banks take longer", anywhere=True))
    assert await emma.count("⚡") == 0
    assert await rina.count("being converted") == 0


async def trouble_is_told_and_a_double_tap_is_one_change(town: World) -> None:
    emma = await newcomer(town)
    await choose(emma)
    message, silently = await emma.button("Trouble with an order")
    assert silently == "s:notice:failed:silent"
    for _ in range(2):
        await emma.presses(message, silently, force=True)
    await emma.waits_for(lambda shown: "🔕 Trouble with an order" in str(shown.get("reply_markup")), anywhere=True)
    assert "always come as a message" in words_of(await emma.finds(message) or {})
    await emma.presses(message, "s:notice:failed:card", force=True)
    await emma.sees("That button belongs to an older message")
    _, order = await taps_to_invoice(town, emma)
    await town.service.pays(order)
    await emma.sees("⚡")
    await town.service.does("fail", orderId=order["id"])
    assert is_silent(await emma.sees("❌(.|\n)*The transfer failed after your payment came in", anywhere=True))
    await choose(emma)
    await emma.taps("As usual again")
    await emma.waits_for(lambda shown: "🔔 Trouble with an order" in str(shown), anywhere=True)


async def times_follow_the_zone_that_was_typed(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/settings")
    assert "WIB" in words_of(await emma.sees("⚙️ Settings"))
    await emma.taps("Time zone")
    await emma.sees("Which time do you live by")
    await emma.taps("Another place")
    await emma.sees("Where are you")
    await emma.says("atlantis under sea")
    await emma.sees("I don't know that place")
    await emma.says("usa")
    await emma.sees("Which one do you mean by “usa”")
    await emma.says("tokyo")
    await emma.sees(r"It is now \d\d:\d\d UTC\+9 · Tokyo there")
    assert "UTC+9" in (await emma.taps("Yes, use this time"))["text"]
    await emma.sees(r"Time: \d\d:\d\d UTC\+9 · Tokyo")
    card, _ = await taps_to_invoice(town, emma)
    assert re.search(r"until \d\d:\d\d UTC\+9", words_of(card))
    assert not any(entity["type"] == "date_time" for entity in card.get("entities", []))
    assert re.search(r"until \d\d:\d\d UTC\+9", words_of(await emma.sees("lnbcrt", anywhere=True)))
    assert "UTC+9" in words_of(await emma.sees("Confirmed", anywhere=True))
    await emma.says("/settings")
    await emma.taps("Time zone")
    await emma.taps("WITA")
    await emma.sees(r"Time: \d\d:\d\d WITA\n")


async def forged_buttons_change_nothing(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/settings")
    shown = await emma.sees("⚙️ Settings")
    forged = (
        "s:zone:Mars/Base",
        "s:zone:Etc/GMT-99",
        "s:nothing",
        "s:lang:de",
        "s:notice:making:card",
        "ph:use:id-1-1-1",
    )
    for data in forged:
        await emma.presses(shown, data, force=True)
        await emma.sees("That button belongs to an older message")
    await emma.says("/settings")
    assert "Notices: as usual" in words_of(await emma.sees("WIB"))
