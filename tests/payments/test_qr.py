"""An independent reader can read the codes, also after Telegram's compression and on bad screens."""

import asyncio
import io
import threading
from datetime import UTC, datetime, timedelta

import pytest
import zxingcpp
from PIL import Image

from bot.payments import bolt11, erc681, qr
from bot.payments.tokens import TOKENS
from tests.payments import bolt11_write
from tests.waiting import TIMEOUT_SECONDS

_SAFE = "0x52908400098527886E0F7030069857D2E4169EE7"
_URI = erc681.transfer_uri(TOKENS["btcb"], _SAFE, 29_412)
_LENGTHS = (255, 314, 399, 600)


def _written(description: str, min_final_cltv: int) -> str:
    return bolt11_write.encode(
        private_key=b"\x07" * 32,
        amount_msat=25_000_000,
        currency="bc",
        timestamp=datetime(2026, 3, 1, 12, tzinfo=UTC),
        description=description,
        payment_hash=bytes(range(32)),
        payment_secret=bytes(range(64, 96)),
        expiry=timedelta(seconds=20),
        min_final_cltv=min_final_cltv,
    )


def _invoice(length: int) -> str:
    """Write a real invoice of exactly this length: a letter adds one or two characters, a larger number one."""
    shortest = len(_written("", 0))
    about = max(0, (length - shortest) * 5 // 8)
    for description in range(max(0, about - 8), about + 8):
        for blocks in (0, 18, 144):
            text = _written("x" * description, blocks)
            if len(text) == length:
                return text
    raise AssertionError(f"no invoice has {length} characters; the shortest has {shortest}")


_PAYLOADS = [*(qr.invoice_qr_payload(_invoice(length)) for length in _LENGTHS), _URI]
_IDS = [*map(str, _LENGTHS), "erc681"]


def _read(picture: Image.Image) -> str:
    (code,) = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    assert code.ec_level == "M"
    return code.text


def _picture(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def _jpeg(picture: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    picture.convert("L").save(file, "JPEG", quality=quality)
    return _picture(file.getvalue())


@pytest.mark.parametrize("payload", _PAYLOADS, ids=_IDS)
def test_a_code_reads_back_at_full_size(payload: str) -> None:
    assert _read(_picture(qr.render_png(payload))) == payload


@pytest.mark.parametrize("payload", _PAYLOADS, ids=_IDS)
def test_a_code_reads_back_shrunk_to_300_pixels(payload: str) -> None:
    small = _picture(qr.render_png(payload)).convert("L").resize((300, 300), Image.Resampling.BILINEAR)
    assert _read(small) == payload


@pytest.mark.parametrize("payload", _PAYLOADS, ids=_IDS)
def test_a_code_reads_back_as_a_jpeg(payload: str) -> None:
    picture = _picture(qr.render_png(payload))
    assert _read(_jpeg(picture, 60)) == payload
    assert _read(_jpeg(picture.convert("L").resize((300, 300), Image.Resampling.BILINEAR), 60)) == payload


def test_a_code_reads_back_turned_and_on_a_dark_background() -> None:
    picture = _picture(qr.render_png(_PAYLOADS[2])).convert("L")
    frame = Image.new("L", (picture.width + 200, picture.height + 200), 24)
    frame.paste(picture, (100, 100))
    assert _read(frame.rotate(17, fillcolor=24, resample=Image.Resampling.BILINEAR)) == _PAYLOADS[2]


def test_a_payload_of_one_repeated_letter_reads_back() -> None:
    payload = "LIGHTNING:" + "Q" * 390
    assert _read(_picture(qr.render_png(payload)).convert("L").resize((300, 300))) == payload


@pytest.mark.parametrize("payload", _PAYLOADS, ids=_IDS)
def test_the_picture_is_square_sharp_and_small(payload: str) -> None:
    png = qr.render_png(payload)
    picture = _picture(png)
    assert (picture.format, picture.mode) == ("PNG", "1")
    assert 700 <= picture.width == picture.height < 820
    assert len(png) < 4_000


@pytest.mark.parametrize("payload", _PAYLOADS, ids=_IDS)
def test_every_module_is_whole_pixels_and_the_quiet_zone_is_four(payload: str) -> None:
    picture = _picture(qr.render_png(payload)).convert("L")
    left, top, right, bottom = Image.eval(picture, lambda shade: 255 - shade).getbbox() or (0, 0, 0, 0)
    module = left // 4
    assert left == top == picture.width - right == picture.height - bottom == 4 * module
    modules = picture.resize((picture.width // module,) * 2, Image.Resampling.NEAREST)
    assert modules.resize(picture.size, Image.Resampling.NEAREST).tobytes() == picture.tobytes()


def test_an_invoice_is_held_in_the_dense_mode() -> None:
    invoice = _invoice(600)
    dense = _picture(qr.render_png(qr.invoice_qr_payload(invoice), min_side_px=1)).width
    plain = _picture(qr.render_png("lightning:" + invoice, min_side_px=1)).width
    assert dense < plain


@pytest.mark.parametrize("text", ["lnbc1abc", "LNBC1ABC", " lnbc1abc\n", "lightning:lnbc1abc"])
def test_the_payload_is_upper_case_with_its_scheme_once(text: str) -> None:
    assert qr.invoice_qr_payload(text) == "LIGHTNING:LNBC1ABC"


def test_a_wallet_reads_the_same_invoice_from_the_code() -> None:
    text = _invoice(314)
    assert bolt11.decode(_read(_picture(qr.render_png(qr.invoice_qr_payload(text))))).text == text


@pytest.mark.parametrize("payload", ["A" * 3_392, "a" * 2_332, "a" * 20_000])
def test_more_than_a_code_holds_is_refused(payload: str) -> None:
    with pytest.raises(qr.UnrenderableQr, match="characters"):
        qr.render_png(payload)


def test_the_most_that_a_code_holds_is_drawn() -> None:
    assert _read(_picture(qr.render_png("A" * 3_391))) == "A" * 3_391


async def test_codes_drawn_at_once_off_the_loop_are_each_their_own() -> None:
    pictures = await asyncio.gather(*(qr.render_png_off_loop(payload) for payload in _PAYLOADS))
    assert [_read(_picture(png)) for png in pictures] == _PAYLOADS


async def test_the_loop_runs_on_while_a_code_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    loop_ran = threading.Event()
    monkeypatch.setattr(
        qr, "render_png", lambda _: b"drawn" if loop_ran.wait(TIMEOUT_SECONDS) else b"the loop stood still"
    )
    drawing = asyncio.ensure_future(qr.render_png_off_loop(_PAYLOADS[3]))
    await asyncio.sleep(0)
    loop_ran.set()
    assert await drawing == b"drawn"


async def test_a_refusal_crosses_from_the_thread() -> None:
    with pytest.raises(qr.UnrenderableQr):
        await qr.render_png_off_loop("a" * 9_000)
