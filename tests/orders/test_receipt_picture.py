"""Receipt pictures: everything is in its place and readable, and drawing doesn't delay other work."""

import asyncio
import io
import threading
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from bot.infra.drawing.picture import (
    CARD_LEFT,
    CARD_RIGHT,
    COLOURS,
    LEFT,
    PAGE,
    RIGHT,
)
from bot.orders.receipts import drawing
from bot.orders.receipts.drawing import render_receipt
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.receipts.service import render_receipt_off_loop
from tests.examples import some
from tests.pictures import contrast, inked, qr_texts
from tests.waiting import TIMEOUT_SECONDS

PICTURE_HEIGHT = 1350
LINK = "https://t.me/KirimRupiahBot?start=v_K7QM2XPA9RTW"
FACTS = ReceiptFacts(
    brand="Kirim",
    title="Terkirim · Sent",
    amount="Rp1.500.000",
    recipient="→ BCA ••••7890",
    rows=(("Nomor transaksi · Order", "KRM-7Q2M4X"), ("Waktu kirim · Sent at", "21 Nov 2026 14.33 WIB")),
    meanings=(
        "Sudah dikirim ke bank, biasanya masuk dalam beberapa menit.",
        "Sent to the bank, usually there within minutes.",
    ),
    code_label="Cek kode ini · Check this code",
    code="K7QM-2XPA-9RTW",
    place="/verify → @KirimRupiahBot",
)
WHOLE = replace(FACTS, verify_url=LINK)

LONG = "W" * 4_096
HOSTILE = {
    "one endless word": LONG,
    "words without end": "kata " * 800,
    "emoji": "🎉" * 4_096,
    "markup": "<b>BCA</b> &amp; <script>",
    "turned around": "\u202e\u2067gnp.exe\u2066\u200f",
    "control characters": "a\x00b\x07c\nd\r\ne\x1b[31m\t\x7f",
    "marks piled up": "Z" + "\u0337\u0353" * 500,
    "other scripts": "王小明 مرحبا Иван ไทย नमस्ते",
    "lone surrogate": "a\ud800b",
    "only spaces": " \u3000\u00a0 ",
    "empty": "",
}
TEXTS = (
    "brand",
    "title",
    "amount",
    "recipient",
    "code_label",
    "code",
    "place",
)


def _picture(facts: ReceiptFacts) -> Image.Image:
    return Image.open(io.BytesIO(render_receipt(facts))).convert("RGB")


def _everywhere(text: str) -> ReceiptFacts:
    return _changed(
        replace(WHOLE, rows=((text, text), (text, "x"), ("x", text)), meanings=(text, text)), *TEXTS, to=text
    )


def _changed(facts: ReceiptFacts, *names: str, to: str) -> ReceiptFacts:
    given: dict[str, Any] = dict.fromkeys(names, to)
    return replace(facts, **given)


def _colours(picture: Image.Image, left: int, right: int) -> set[tuple[int, ...]]:
    strip = picture.crop((left, 0, right, picture.height))
    return {colour for _, colour in strip.getcolors(strip.width * strip.height) or () if isinstance(colour, tuple)}


@pytest.mark.parametrize("facts", [FACTS, WHOLE], ids=["plain", "whole"])
def test_a_receipt_is_a_light_png_of_four_to_five(facts: ReceiptFacts) -> None:
    png = render_receipt(facts)
    picture = Image.open(io.BytesIO(png))
    assert (picture.format, picture.size) == ("PNG", (1080, PICTURE_HEIGHT))
    assert len(png) < 100_000
    shades = picture.convert("L").histogram()
    assert sum(shades[200:]) > 0.85 * sum(shades)


@pytest.mark.parametrize("size", [1, 1 / 2, 1 / 3])
def test_the_link_reads_back_from_the_picture(size: float) -> None:
    whole = _picture(WHOLE)
    small = whole.resize((round(whole.width * size), round(whole.height * size)), Image.Resampling.BILINEAR)
    assert qr_texts(small) == [LINK]


@pytest.mark.parametrize("text", some([pytest.param(text, id=name) for name, text in HOSTILE.items()]))
def test_nothing_runs_out_of_its_place(text: str) -> None:
    picture, plain = _picture(_everywhere(text)), _picture(WHOLE)
    assert picture.size == (1080, PICTURE_HEIGHT), "chats cut off the ends of a higher one"
    assert _colours(picture, 0, CARD_LEFT) == _colours(picture, CARD_RIGHT, 1080) == {COLOURS[PAGE]}
    for left, right in ((CARD_LEFT, LEFT - 4), (RIGHT + 4, CARD_RIGHT)):
        assert _colours(picture, left, right) <= _colours(plain, left, right)


def test_every_ink_is_readable_on_every_ground_it_is_used_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with inked(monkeypatch) as pairs:
        render_receipt(WHOLE)
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


async def test_the_loop_runs_on_while_a_receipt_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    loop_ran = threading.Event()
    monkeypatch.setattr(
        drawing, "render_receipt", lambda _: b"drawn" if loop_ran.wait(TIMEOUT_SECONDS) else b"it stood still"
    )
    task = asyncio.ensure_future(render_receipt_off_loop(WHOLE))
    await asyncio.sleep(0)
    loop_ran.set()
    assert await task == b"drawn"
