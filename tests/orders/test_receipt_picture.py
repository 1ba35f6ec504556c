"""Receipt pictures: everything is in its place and readable, and drawing doesn't delay other work."""

import asyncio
import io
import itertools
import threading
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw

from bot.infra.drawing.picture import (
    CARD_LEFT,
    CARD_RIGHT,
    COLOURS,
    INK,
    LEFT,
    PAGE,
    RIGHT,
    Canvas,
    Lines,
    _draw_fixed_text,
    fit_fixed,
)
from bot.orders.receipts import drawing
from bot.orders.receipts.drawing import render_receipt
from bot.orders.receipts.screens import ReceiptFacts
from bot.orders.receipts.service import render_receipt_off_loop
from bot.payments.errors import UnrenderableQr
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


def test_the_same_facts_give_the_same_bytes_and_others_give_others() -> None:
    assert render_receipt(WHOLE) == render_receipt(replace(WHOLE))
    pictures = {render_receipt(_changed(WHOLE, name, to="Lain")) for name in TEXTS}
    pictures |= {render_receipt(WHOLE), render_receipt(replace(WHOLE, rows=WHOLE.rows[:1]))}
    assert len(pictures) == len(TEXTS) + 2


@pytest.mark.parametrize("size", [1, 1 / 2, 1 / 3])
def test_the_link_reads_back_from_the_picture(size: float) -> None:
    whole = _picture(WHOLE)
    small = whole.resize((round(whole.width * size), round(whole.height * size)), Image.Resampling.BILINEAR)
    assert qr_texts(small) == [LINK]


def test_the_link_reads_back_from_a_jpeg_of_the_size_that_chats_make() -> None:
    picture = _picture(WHOLE)
    picture.thumbnail((1_280, 1_280))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=70)
    assert qr_texts(Image.open(file)) == [LINK]


def test_without_a_link_there_is_no_qr_code() -> None:
    assert qr_texts(_picture(FACTS)) == []


@pytest.mark.parametrize("text", some([pytest.param(text, id=name) for name, text in HOSTILE.items()]))
def test_nothing_runs_out_of_its_place(text: str) -> None:
    picture, plain = _picture(_everywhere(text)), _picture(WHOLE)
    assert picture.size == (1080, PICTURE_HEIGHT), "chats cut off the ends of a higher one"
    assert _colours(picture, 0, CARD_LEFT) == _colours(picture, CARD_RIGHT, 1080) == {COLOURS[PAGE]}
    for left, right in ((CARD_LEFT, LEFT - 4), (RIGHT + 4, CARD_RIGHT)):
        assert _colours(picture, left, right) <= _colours(plain, left, right)


@pytest.mark.parametrize("text", some([pytest.param(text, id=name) for name, text in HOSTILE.items()]))
def test_the_link_reads_back_whatever_stands_around_it(text: str) -> None:
    assert qr_texts(_picture(_everywhere(text))) == [LINK]


def test_the_ground_around_the_ink_is_checked_by_something_that_sees_ink() -> None:
    """Check that a slightly too long line is found by the colours that the two tests above use."""
    picture = _picture(WHOLE)
    before = _colours(picture, RIGHT + 4, CARD_RIGHT)
    ImageDraw.Draw(picture).line((RIGHT, 700, RIGHT + 5, 700), COLOURS[INK])
    assert not _colours(picture, RIGHT + 4, CARD_RIGHT) <= before


def test_a_name_with_emoji_gives_the_picture_of_the_name_alone() -> None:
    assert render_receipt(replace(FACTS, recipient="Budi\u202e 🎉")) == render_receipt(replace(FACTS, recipient="Budi"))


def test_nothing_overlaps_however_long_every_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, write = dict[int, int](), Canvas.write

    def keep(canvas: Canvas, lines: Lines, at: tuple[int, int], *ink: str, **more: Any) -> None:
        ends[at[1]] = max(ends.get(at[1], 0), at[1] + lines.height)
        write(canvas, lines, at, *ink, **more)

    monkeypatch.setattr(Canvas, "write", keep)
    for facts in (WHOLE, _everywhere(HOSTILE["words without end"]), _everywhere(LONG)):
        ends.clear()
        render_receipt(facts)
        tops = sorted(ends)
        assert len(tops) > len(TEXTS)
        assert [top for top, below in itertools.pairwise(tops) if ends[top] > below] == []
        assert ends[tops[-1]] < PICTURE_HEIGHT


def test_the_characters_of_a_code_stand_in_equal_steps() -> None:
    """Replace one character of a code, and check that the others stay in place."""
    before, after = (_picture(replace(FACTS, code=code)) for code in ("K7QM-2XPA-9RTW", "K7QM-2WPA-9RTW"))
    left, _, right, _ = ImageChops.difference(before, after).getbbox() or (0, 0, 0, 0)
    assert 0 < right - left < 70


def test_every_ink_is_readable_on_every_ground_it_is_used_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with inked(monkeypatch) as pairs:
        render_receipt(WHOLE)
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


def test_what_identifies_a_receipt_is_not_in_its_repr() -> None:
    for secret in (WHOLE.code, LINK, "KRM-7Q2M4X"):
        assert secret not in repr(WHOLE)


def test_the_licence_lies_beside_the_fonts() -> None:
    folder = files("bot.infra.drawing") / "fonts"
    assert "SIL Open Font License, Version 1.1" in (folder / "OFL.txt").read_text(encoding="utf-8")
    assert sum(len(file.read_bytes()) for file in folder.iterdir()) < 100_000


async def test_receipts_drawn_at_once_off_the_loop_are_each_their_own() -> None:
    wanted = [replace(WHOLE, amount=f"Rp{number}.000") for number in range(1, 7)]
    assert await asyncio.gather(*map(render_receipt_off_loop, wanted)) == [render_receipt(facts) for facts in wanted]


async def test_the_loop_runs_on_while_a_receipt_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    loop_ran = threading.Event()
    monkeypatch.setattr(
        drawing, "render_receipt", lambda _: b"drawn" if loop_ran.wait(TIMEOUT_SECONDS) else b"it stood still"
    )
    task = asyncio.ensure_future(render_receipt_off_loop(WHOLE))
    await asyncio.sleep(0)
    loop_ran.set()
    assert await task == b"drawn"


async def test_a_link_too_long_for_any_code_is_refused_and_the_next_receipt_is_drawn() -> None:
    with pytest.raises(UnrenderableQr):
        await render_receipt_off_loop(replace(WHOLE, verify_url="https://t.me/" + "x" * 2_400))
    assert await render_receipt_off_loop(WHOLE) == render_receipt(WHOLE)


def test_no_drawing_of_a_personal_text_is_kept() -> None:
    personal: dict[str, Any] = {
        "amount": "Rp1.234.567",
        "recipient": "→ somewhere else",
        "rows": tuple((label, "another value") for label, _ in WHOLE.rows),
    }
    render_receipt(WHOLE)
    kept = [cache.cache_info().misses for cache in (_draw_fixed_text, fit_fixed)]
    assert render_receipt(replace(WHOLE, **personal)) != render_receipt(WHOLE)
    assert [cache.cache_info().misses for cache in (_draw_fixed_text, fit_fixed)] == kept
