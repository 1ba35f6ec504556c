"""Tests that chat with numbers isn't an order, and that long texts are read quickly."""

import time

import pytest

from bot.checkout.parser import looks_like_order, read_line
from bot.settlement.model import PayoutMethod
from tests.checkout.order_lines import METHODS

TALK = [
    "",
    "halo",
    "terima kasih",
    "1234",
    "123456",
    "1234567890",
    "500rb",
    "bca",
    "500rb bca",
    "PIN 123456",
    "kode otp anda 123456 jangan berikan",
    "berapa kurs 500rb?",
    "500rb bca 1234567890?",
    "sudah transfer 500rb ke bca 1234567890",
    "halo 500rb bca 1234567890",
    "jam 10:30 tanggal 12/05/2026 transfer 500rb bca 1234567890",
    "https://example.org/500rb/bca/1234567890",
    "/send 500rb bca 1234567890",
    "@budi 500rb bca 1234567890",
    "order 1234567890 500rb gagal",
    "Selamat siang, pembayaran 500rb ke rekening BCA 1234567890 atas nama Budi telah kami terima dengan baik, salam",
    "x " * 2048,
    "\U0001f4b8" * 4096,
]


@pytest.mark.parametrize("text", TALK)
def test_talk_is_no_order(text: str) -> None:
    assert not looks_like_order(text, METHODS)


# No text takes longer than a blink, whoever sends it; the bound is wide, for test machines are busy.
HEAVY = [
    "x" * 4096,
    "\U0001f4b8" * 4096,
    "1 " * 2048,
    "juta ribu " * 20,
    "dua juta lima ratus ribu " * 10,
    "satsat" * 45,
    "bank qwe " * 20,
    "mandri gopey brii danaa " * 10,
    "qwerty asdfgh zxcvbn " * 13,
    "1234 " * 40,
    "123.456 " * 36,
    "\ufdfa" * 290,
    "(" * 150 + ")" * 150,
]


@pytest.mark.parametrize("text", HEAVY, ids=range(len(HEAVY)))
def test_heavy_texts_are_light_work(text: str) -> None:
    many = [*METHODS, *(PayoutMethod(f"X{i}", f"BPR CONTOH {i} SEJAHTERA", "bank") for i in range(90))]
    read_line("warm up", many)
    began = time.process_time()
    read_line(text, many)
    looks_like_order(text, many)
    assert time.process_time() - began < 0.5
