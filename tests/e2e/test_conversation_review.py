"""The review and the ways around it: every line can be changed, and no old button does harm."""

import asyncio

import pytest

from tests.e2e.people import completes, let_drafts_lapse, newcomer, taps_to_invoice, taps_to_review
from tests.e2e.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_line_can_be_changed_and_every_question_left(town: World) -> None:
    await asyncio.gather(changes_every_line(town), goes_back_and_leaves(town))


async def changes_every_line(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_review(emma)
    review = await emma.sees("Please check", anywhere=True)
    for line in ("500,000", "BCA · BANK CENTRAL ASIA", "1234567890", "Name: not given", "about [0-9,]+ sats", "WIB"):
        await emma.sees(line, anywhere=True)
    assert "Fee: Rp5,000, included\nRate: 1 BTC = Rp" in review["text"]
    await emma.taps("Amount")
    await emma.sees("How much")
    await emma.says("25k sat")
    await emma.sees("Arrives: about Rp[0-9,]+\n(?s:.*)You pay: 25,000 sats · Lightning")
    await emma.taps("Name")
    await emma.sees("Whose account")
    await emma.says("Budi Santoso")
    await emma.sees("Name: Budi Santoso\n")
    await emma.taps("Number")
    await emma.sees("Which account number")
    await emma.taps("Back")
    await emma.sees("Please check(?s:.*)1234567890\nName: Budi Santoso")
    await emma.taps("Number")
    await emma.sees("Which account number")
    await emma.says("0987654321")
    await emma.sees("BCA · 0987654321\n\nWhose account")  # another number is another person's
    await emma.taps("Skip")
    await emma.sees("Please check(?s:.*)0987654321\nName: not given")
    await emma.taps("Destination")
    await emma.sees("Where should it go")
    await emma.says("gopay")
    await emma.sees("GoPay\n\nWhich mobile number")
    await emma.says("081234567890")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("At: GoPay\n(?s:.*)25,000 sats")
    await emma.taps("Cancel")
    await emma.sees("Cancelled. Nothing was ordered")


async def goes_back_and_leaves(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    assert "\u2039 Back" not in await emma.buttons()
    await emma.says("bca")
    await emma.sees("Which account number")
    await emma.says("1234567890")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("How much")
    for question in ("Whose account", "Which account number", "Where should it go"):
        assert {"\u2039 Back", "Cancel"} <= set(await emma.buttons())
        await emma.taps("Back")
        await emma.sees(question)
    await emma.taps("Cancel")
    await emma.sees("Cancelled")


async def test_what_is_no_answer_is_explained_and_the_question_asked_again(town: World) -> None:
    async def at_the_review() -> None:
        emma = await newcomer(town)
        await taps_to_review(emma)
        await emma.says("yes please")
        await emma.sees("Please confirm with the button, or change a line(?s:.*)Please check")
        await emma.says("🙈" * 2048)
        await emma.sees("Please confirm with the button(?s:.*)Please check")
        await emma.taps("Way to pay")
        await emma.sees("How would you like to pay")
        await emma.says("lightning")
        await emma.sees("Please choose with one of the buttons(?s:.*)How would you like to pay")
        await emma.taps("Lightning")
        await emma.sees("Please check")

    async def with_a_sticker() -> None:
        sari = await newcomer(town, "id")
        await sari.sends_a_sticker()
        await sari.sees("Kirim: kirim rupiah")
        await sari.taps("Kirim rupiah")
        await sari.sees("Mau dikirim ke mana")
        await sari.sends_a_sticker()
        await sari.sees("Hanya teks yang bisa dibaca(?s:.*)Mau dikirim ke mana")

    await asyncio.gather(at_the_review(), with_a_sticker())


async def test_a_second_tap_on_confirm_places_no_second_order(town: World) -> None:
    emma, number = await newcomer(town), "7731002201"
    await taps_to_review(emma, number=number)
    review, confirm = await emma.button("Confirm and get the invoice")
    taps = await asyncio.gather(*(emma.presses(review, confirm, force=True) for _ in range(4)))
    assert {tap["text"] for tap in taps} == {"", "That order has been placed already."}
    await emma.sees("Waiting for your payment, until")
    settled = await emma.finds(review)
    assert settled is not None
    assert "☑️ Confirmed · order " in settled["text"]
    assert number in settled["text"]
    assert "reply_markup" not in settled
    assert len(await town.service.orders(number)) == 1
    assert await emma.count("Waiting for your payment") == 1
    assert await emma.count("lnbcrt") == 1


async def test_old_buttons_explain_themselves_and_offer_the_way_on(town: World) -> None:
    await asyncio.gather(of_questions_and_cancelled_drafts(town), of_placed_orders(town), of_a_quiet_draft(town))


async def of_questions_and_cancelled_drafts(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/send")
    await emma.sees("Where should it go")
    first, gopay = await emma.button("Cancel")
    await emma.says("bca")
    await emma.sees("Which account number")
    # of an earlier question of this draft
    assert (await emma.presses(first, gopay, force=True))["text"] == "That button belongs to an older message."
    await emma.sees("Which account number")
    second, back = await emma.button("Back")
    await emma.says("/cancel")
    await emma.sees("Cancelled")
    # of a draft that was cancelled, with none open
    assert (await emma.presses(second, back, force=True))["text"].startswith("That order was cancelled")
    await emma.sees("That order was cancelled before it was made")
    await emma.taps("Send rupiah")
    await emma.sees("Where should it go")
    # of a draft that was cancelled, with another open
    assert (await emma.presses(second, back, force=True))["text"].startswith("That order was cancelled")
    await emma.sees("Where should it go")
    # of nothing that there ever was
    for junk in ("d:ffffffffff:1:back", "d:0", "x", "o:zzz", "lang:xx"):
        assert (await emma.presses(second, junk, force=True))["answered"]
        await emma.sees("Where should it go")


async def of_placed_orders(town: World) -> None:
    emma, sari = await newcomer(town), await newcomer(town, "id")
    await emma.says("/send")
    question = await emma.sees("Where should it go")
    _, cancel = await emma.button("Cancel")
    await emma.says("/cancel")
    await taps_to_review(emma)
    _, edit = await emma.button("Amount")
    await emma.taps("Confirm")
    card = await emma.sees("Waiting for your payment, until")
    assert (await emma.presses(question, edit, force=True))["text"] == "That order has been placed already."
    await emma.sees("Waiting for your payment, until")
    _, refresh = await emma.button("Refresh")
    await sari.says("/start")
    welcome = await sari.sees("Kirim: kirim rupiah")
    alien = await sari.presses(welcome, refresh, force=True)
    assert (alien["text"], alien["show_alert"]) == ("Pesanan itu bukan di chat ini.", True)
    await sari.presses(welcome, edit, force=True)
    await sari.sees("Tombol itu dari pesan lama")
    assert await sari.count("Rp500") == 0
    assert await emma.finds(card) is not None
    await emma.presses(question, cancel, force=True)
    await emma.sees("That order was cancelled before it was made")


async def of_a_quiet_draft(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_review(emma)
    old, amount = await emma.button("Amount")
    let_drafts_lapse(town, emma)
    notice = await emma.sees("Rp500,000 → BCA ••••7890\n\nI have put your unfinished order away")
    await emma.presses(old, amount, force=True)
    await emma.sees("I have put your unfinished order away")
    await emma.taps("Continue")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    await emma.taps("Continue", message=notice)
    await emma.sees("Waiting for your payment, until")


async def test_news_of_an_order_do_not_disturb_a_draft_and_are_not_written_over(town: World) -> None:
    emma = await newcomer(town)
    _, order = await taps_to_invoice(town, emma)
    await emma.says("/send")
    await emma.sees("Where should it go")
    await emma.says("ovo")
    await emma.sees("Which mobile number")
    await town.service.pays(order)
    await emma.sees("Payment received at")
    await emma.says("081234567890")
    await emma.sees("Whose account")
    await completes(town, order)
    sent = await emma.sees("have been sent to the bank.* They usually show in the account")
    before = await emma.finds(sent)
    await emma.taps("Send again", message=sent)
    await emma.sees("^Your unfinished order was put aside for this one.\n.+\n\nPlease check(?s:.*)Number: 1234567890")
    assert await emma.finds(sent) == before
