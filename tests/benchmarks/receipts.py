"""(d) Receipts: how long one takes, and how long the event loop waits while a burst of them is drawn."""

import asyncio
import io
from dataclasses import replace

from PIL import Image

from bot.orders.receipts.drawing import render_receipt
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.receipts.service import render_receipt_off_loop
from tests.benchmarks.qr_codes import loop_delay, took
from tests.benchmarks.report import Row, Spread

RECEIPTS, FEW_RECEIPTS = 200, 10

FACTS = ReceiptFacts(
    brand="Kirim",
    title="Terkirim · Sent",
    amount="Rp1.500.000",
    recipient="→ BCA ••••7890",
    rows=(
        ("Nomor transaksi · Order", "KRM-7Q2M4X"),
        ("Waktu bayar · Paid at", "21 Nov 2026 14.31 WIB"),
        ("Waktu kirim · Sent at", "21 Nov 2026 14.33 WIB"),
    ),
    meanings=(
        "Sudah dikirim ke bank, biasanya masuk dalam beberapa menit.",
        "Sent to the bank, usually there within minutes.",
    ),
    code_label="Cek kode ini · Check this code",
    code="K7QM-2XPA-9RTW",
    place="/verify → @KirimRupiahBot",
    verify_url="https://t.me/KirimRupiahBot?start=v_K7QM2XPA9RTW",
)


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    receipts = [_receipt(number) for number in range(FEW_RECEIPTS if quick else RECEIPTS)]
    full_colour = Image.open(io.BytesIO(render_receipt(receipts[0]))).convert("RGB")
    ours = Spread.from_times([took(lambda r=receipt: render_receipt(r)) for receipt in receipts])  # type: ignore[misc]
    saving = Spread.from_times([took(lambda: full_colour.save(io.BytesIO(), "PNG")) for _ in receipts[:20]])
    off = await loop_delay(lambda: _off_the_loop(receipts))
    on = await loop_delay(lambda: _on_the_loop(receipts))
    waits = f"what the event loop waits while {len(receipts)} receipts are drawn, median / p99"
    return [
        Row(
            part="d",
            measured="drawing a receipt with its QR code, 1080 pixels wide, median / p99",
            ours=str(ours),
            versus="only saving the same picture in full colour",
            theirs=str(saving),
            ratio=ours.over(saving),
        ),
        Row(part="d", measured=waits, ours=str(off), versus="drawn in the loop", theirs=str(on), ratio=off.over(on)),
    ]


def _receipt(number: int) -> ReceiptFacts:
    return replace(FACTS, amount=f"Rp{1 + number % 9}.{number:03}.000", verify_url=f"{FACTS.verify_url}{number}")


async def _off_the_loop(receipts: list[ReceiptFacts]) -> None:
    await asyncio.gather(*map(render_receipt_off_loop, receipts))


async def _on_the_loop(receipts: list[ReceiptFacts]) -> None:
    for receipt in receipts:
        render_receipt(receipt)
        await asyncio.sleep(0)
