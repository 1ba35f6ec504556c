"""After the confirmation: the price, the invoice, its end in time or out of it, and what is said of each."""

import asyncio
import re

import pytest
import zxingcpp

from tests.contract.telegram_pictures import as_image
from tests.e2e.people import Newcomer, completes, newcomer, order_of, taps_to_invoice, taps_to_review
from tests.e2e.world import Chatter, Json, World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_order_is_followed_to_its_end_in_the_language_of_its_reader(town: World) -> None:
    await asyncio.gather(follows_by_status(town), sends_in_indonesian(town))


async def follows_by_status(town: World) -> None:
    emma = await newcomer(town)
    await emma.says("/status")
    await emma.sees("No orders are under way")
    _, order = await taps_to_invoice(town, emma)
    picture = next(message for message in await emma.messages() if message.get("photo"))
    assert scanned(await emma.scans(picture)) == f"LIGHTNING:{order['invoiceBolt11'].upper()}"
    assert order["invoiceBolt11"] in picture["caption"]
    assert f"Pay {order['satAmount']:,} sats" in picture["caption"]
    assert {"type": "code", "length": len(order["invoiceBolt11"])}.items() <= picture["caption_entities"][-1].items()
    await emma.says("/status")
    await emma.sees("Rp500,000 → BCA ••••7890 · [0-9A-Z]{7}\nWaiting for payment")
    await emma.taps("Open ")
    card = await emma.sees("⏳ Your payment")
    await emma.sees_times(1, "Order made")  # the card has moved to the end of the chat
    await town.service.pays(order)
    await emma.sees("Payment received at")
    await emma.sees_times(0, "lnbcrt")
    for state, picture_of in (("LN_SWAP_PENDING", "⏳ Converting"), ("IDR_SETTLED", "⏳ Sending rupiah")):
        await town.service.does("advance", orderId=order["id"], state=state)
        await emma.sees(picture_of, anywhere=True)
    await completes(town, order)
    await emma.sees("have been sent to the bank.* They usually show in the account", anywhere=True)
    final = await emma.finds(card)
    assert final is not None
    assert "✅ Sent" in final["text"]


async def sends_in_indonesian(town: World) -> None:
    sari = await newcomer(town, "id")
    await sari.says("/send")
    await sari.sees("Mau dikirim ke mana")
    await sari.says("dana")
    await sari.sees("Nomor HP-nya berapa")
    await sari.says("+62 812-0000-1111")
    await sari.sees("DANA · 081200001111\n\nAtas nama siapa")
    await sari.says("Budi")
    await sari.sees("Berapa yang harus sampai")
    await sari.says("150rb")
    await sari.sees(r"Periksa dulu, ya(?s:.*)Sampai: Rp150\.000\n(?s:.*)Nama: Budi\n")
    await sari.taps("Konfirmasi dan buat tagihan")
    await sari.sees("Menunggu pembayaran, sampai .* WIB")
    order = await order_of(town, sari)
    assert order["idrAmount"] == 150_000
    await town.service.pays(order)
    await sari.sees("Pembayaran diterima pukul")
    await completes(town, order)
    await sari.sees("Rupiah sudah dikirim ke e-wallet.* Biasanya masuk", anywhere=True)


async def test_a_worse_price_is_asked_about_before_anything_is_shown(town: World) -> None:
    await town.service.does("settings", lockedPricePercent=5)
    await asyncio.gather(accepts(town), declines(town))


async def accepts(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_review(emma)
    await emma.taps("Confirm")
    asked = await emma.sees("The price has moved")
    reviewed, locked = re.findall(r"(?:Reviewed|Now): ([0-9,]+) sats for Rp500,000", asked["text"])
    assert int(locked.replace(",", "")) > int(reviewed.replace(",", "")) * 1.04
    assert await emma.count("lnbcrt") == 0
    _, drop = await emma.button("No, thank you")
    await emma.taps("Pay at the new price")
    await emma.sees(f"Pay {locked} sats")
    await emma.sees("Waiting for your payment, until", anywhere=True)
    settled = await emma.sees("BCA ••••7890(?s:.*)New price accepted", anywhere=True)
    assert settled["message_id"] == asked["message_id"]
    assert (await emma.presses(asked, drop, force=True))["text"].startswith("That has been decided already")
    await emma.sees("Waiting for your payment, until")


async def declines(town: World) -> None:
    emma = await newcomer(town)
    await taps_to_review(emma)
    await emma.taps("Confirm")
    asked = await emma.sees("The price has moved")
    _, accept = await emma.button("Pay at the new price")
    await emma.says("/status")
    await emma.sees("The price has moved: an answer is needed")
    await emma.taps("No, thank you", message=asked)
    await emma.sees("BCA ••••7890(?s:.*)Put aside. Nothing is to be paid for it")
    await emma.presses(asked, accept, force=True)
    await emma.sees("Put aside")
    assert await emma.count("lnbcrt") == 0


async def test_an_expired_invoice_is_taken_down_and_one_tap_asks_for_a_new_quote(town: World) -> None:
    # As the live service does, which never fails an order for not being paid.
    await town.service.does("settings", profile="live", invoiceExpirySeconds=3, lockedPricePercent=0.9)
    emma, sari = await newcomer(town), await newcomer(town)
    (card, order), (_, late) = await taps_to_invoice(town, emma), await taps_to_invoice(town, sari)
    await town.service.does("settings", invoiceExpirySeconds=3600, lockedPricePercent=0)
    await asyncio.gather(quotes_anew(emma, card, order), pays_late(town, sari, late))


async def quotes_anew(emma: Newcomer, card: Json, order: Json) -> None:
    await emma.sees("The invoice has expired, so please don't pay it any more", anywhere=True)
    await emma.sees_times(0, "lnbcrt")
    changed = await emma.finds(card)
    assert changed is not None
    assert "⌛ Invoice expired" in changed["text"]
    await emma.taps("New quote, same recipient")
    anew = await emma.sees("Now about [0-9,]+ sats; last time it was [0-9,]+ sats. That is [0-9,]+ sats less")
    assert f"last time it was {order['satAmount']:,} sats" in anew["text"]
    assert "\n\nPlease check\n\nArrives: Rp500,000\nAt: BCA · BANK CENTRAL ASIA\nNumber: 1234567890" in anew["text"]
    await emma.taps("Confirm")
    await emma.sees("lnbcrt")


async def pays_late(town: World, sari: Newcomer, order: Json) -> None:
    expired = await sari.sees("The invoice has expired, so please don't pay", anywhere=True)
    _, anew = await sari.button("New quote")
    await town.service.pays(order, late=True)
    await sari.sees("Your payment came in after the invoice had expired")
    await sari.sees("✅ Payment received", anywhere=True)
    assert (await sari.presses(expired, anew, force=True))["text"].startswith("That has been decided already")
    await sari.sees("✅ Payment received")
    await completes(town, order)
    await sari.sees("have been sent to the bank", anywhere=True)


async def test_a_failure_says_whether_money_left_and_leads_to_a_person(town: World) -> None:
    rina = Chatter(town.telegram, 3001)
    await rina.says("/start")
    emma, sari = await newcomer(town), await newcomer(town, "id")
    await sari.says("/start")
    await sari.taps("English")
    (_, unpaid), (_, paid) = await taps_to_invoice(town, emma), await taps_to_invoice(town, sari)
    await sari.says("/language")
    await sari.taps("Bahasa Indonesia")
    await town.service.does("fail", orderId=unpaid["id"])
    await emma.sees("This order failed. No payment for it was seen.*no money left your wallet")
    await emma.sees_times(0, "lnbcrt")
    await town.service.pays(paid)
    await sari.sees("Pembayaran diterima pukul", anywhere=True)
    await town.service.does("fail", orderId=paid["id"])
    failed = await sari.sees("Transfer gagal setelah pembayaran masuk. Uang sudah keluar dari dompet")
    await sari.sees("Tiket T-(?s:.*)BCA ••••7890(?s:.*)Dibuka otomatis", anywhere=True)
    await sari.taps("Bicara dengan petugas", message=failed)
    await sari.sees("BCA ••••7890(?s:.*)Tiket T-[0-9A-Z]{5} masih terbuka")
    await sari.says("Uangnya ke mana?")
    await sari.sees("Ditambahkan ke tiket T-")


async def test_what_the_service_refuses_or_falsifies_is_never_to_be_paid(town: World) -> None:
    oscar = Chatter(town.telegram, 2001)
    await oscar.says("/start")
    emma, sari = await newcomer(town), await newcomer(town)
    await taps_to_review(emma)
    await town.service.fails_with("400", error="<b>closed</b> & gone for today", times=1)
    await emma.taps("Confirm")
    await emma.sees("No order was made.*says:\n<b>closed</b> & gone for today\nNothing is to be paid")
    await emma.taps("Check and try again")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    await taps_to_review(sari)
    await town.service.does("settings", wrongInvoice="amount")
    await sari.taps("Confirm")
    await sari.sees("This order can't be paid. The invoice we got for it is not what was agreed")
    warned = await oscar.sees("An invoice was not shown")
    assert "1234567890" not in str(warned)
    assert await sari.count("lnbcrt") == 0


def scanned(picture: bytes) -> str:
    """What a wallet's camera reads."""
    return str(zxingcpp.read_barcodes(as_image(picture))[0].text)
