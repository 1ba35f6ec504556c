"""An independent reader can read the codes, also after Telegram's compression and on bad screens."""

import io
from datetime import UTC, datetime, timedelta

import pytest
import zxingcpp
from PIL import Image

from bot.payments import bolt11, erc681, qr
from bot.payments.tokens import TOKENS
from tests.payments import bolt11_write

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
