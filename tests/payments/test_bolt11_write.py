"""Written invoices read back the same, and equal the document's examples character by character."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.payments import bech32, bolt11
from bot.payments.bolt11 import MAX_MSAT
from tests.payments import bolt11_write
from tests.payments.payee_keys import public_key

# Published in BOLT11: the key of its examples.
_DOCUMENT_KEY = bytes.fromhex("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734")
_VECTORS = json.loads((Path(__file__).parent / "data" / "bolt11-vectors.json").read_text("utf-8"))["vectors"]

_PARTS: dict[str, Any] = {
    "private_key": _DOCUMENT_KEY,
    "amount_msat": 29_412_000,
    "currency": "bcrt",
    "timestamp": datetime(2026, 3, 1, 12, tzinfo=UTC),
    "description": "IDR 500,000 to BCA",
    "payment_hash": b"\x01" * 32,
    "payment_secret": b"\x02" * 32,
}

_bytes32 = st.binary(min_size=32, max_size=32)
_hops = st.builds(
    bolt11.RouteHop,
    node=st.binary(min_size=33, max_size=33).map(bytes.hex),
    short_channel_id=st.integers(0, 2**64 - 1),
    fee_base_msat=st.integers(0, 2**32 - 1),
    fee_proportional_millionths=st.integers(0, 2**32 - 1),
    cltv_expiry_delta=st.integers(0, 2**16 - 1),
)
_parts = st.fixed_dictionaries(
    {
        "private_key": st.integers(1, 2**255).map(lambda number: number.to_bytes(32, "big")),
        "amount_msat": st.none() | st.integers(1, MAX_MSAT) | st.integers(1, 10**9).map(lambda sats: sats * 1_000),
        "currency": st.sampled_from(sorted(bolt11.CURRENCIES)),
        "timestamp": st.integers(0, 2**35 - 1).map(lambda seconds: datetime.fromtimestamp(seconds, tz=UTC)),
        "description": st.text(max_size=159),
        "payment_hash": _bytes32,
        "payment_secret": _bytes32,
        "expiry": st.integers(0, 36_525 * 86_400).map(lambda seconds: timedelta(seconds=seconds)),
        "min_final_cltv": st.integers(0, 100_000),
        "features": st.sets(st.sampled_from([25, 37, 49, 99])).map(lambda extra: frozenset({8, 14, 17} | extra)),
        "route_hints": st.lists(st.lists(_hops, min_size=1, max_size=3).map(tuple), max_size=2).map(tuple),
    }
)


@given(_parts)
def test_whatever_is_written_reads_back_the_same(parts: dict[str, Any]) -> None:
    text = bolt11_write.encode(**parts)
    invoice = bolt11.decode(text)
    assert invoice.text == text
    assert invoice.payee == public_key(parts["private_key"]).hex()
    assert bytes.fromhex(invoice.payment_hash) == parts["payment_hash"]
    assert bytes.fromhex(invoice.payment_secret) == parts["payment_secret"]
    for name in parts.keys() - {"private_key", "payment_hash", "payment_secret"}:
        assert getattr(invoice, name) == parts[name], name


@pytest.mark.parametrize("title", ["Please send $3 for a cup", "Now send $24", "On mainnet, with fallback address"])
def test_signing_the_documents_example_gives_the_document_s_text(title: str) -> None:
    text = next(vector["invoice"] for vector in _VECTORS if vector["title"].startswith(title))
    front, groups = bech32.decode(text)
    assert bolt11_write.sign(front, groups[:-104], _DOCUMENT_KEY) == text


@pytest.mark.parametrize(
    ("msat", "front"),
    [
        (None, "lnbcrt1"),
        (100_000_000_000, "lnbcrt11"),
        (2_500_000_000, "lnbcrt25m1"),
        (250_000_000, "lnbcrt2500u1"),
        (29_412_000, "lnbcrt294120n1"),
        (967_878_534, "lnbcrt9678785340p1"),
    ],
)
def test_the_amount_is_written_in_the_fewest_characters(msat: int | None, front: str) -> None:
    assert bolt11_write.encode(**_PARTS | {"amount_msat": msat}).startswith(front)


def test_the_usual_invoice_is_short_enough_to_scan_with_ease() -> None:
    assert len(bolt11_write.encode(**_PARTS)) < 330


def test_the_time_is_the_same_moment_in_any_zone() -> None:
    jakarta = _PARTS["timestamp"].astimezone(timezone(timedelta(hours=7)))
    assert bolt11_write.encode(**_PARTS | {"timestamp": jakarta}) == bolt11_write.encode(**_PARTS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"private_key": b"\0" * 32},
        {"private_key": b"\x01" * 31},
        {"amount_msat": 0},
        {"amount_msat": -1},
        {"amount_msat": MAX_MSAT + 1},
        {"currency": "ltc"},
        {"timestamp": datetime(2026, 3, 1)},  # noqa: DTZ001  a naive time is what is refused
        {"timestamp": datetime(1960, 1, 1, tzinfo=UTC)},
        {"timestamp": datetime(4000, 1, 1, tzinfo=UTC)},
        {"description": "é" * 320},
        {"description": "\ud800"},
        {"payment_hash": b"\x01" * 33},
        {"payment_secret": b""},
        {"expiry": timedelta(seconds=-1)},
        {"expiry": timedelta(days=40_000)},
        {"min_final_cltv": -1},
        {"features": frozenset({-1})},
        {"features": frozenset({10**9})},
        {"route_hints": [[]]},
        {"route_hints": [[bolt11.RouteHop("02" * 32, 0, 0, 0, 0)]]},
        {"route_hints": [[bolt11.RouteHop("02" * 33, 2**64, 0, 0, 0)]]},
        {"route_hints": [[bolt11.RouteHop("02" * 33, 0, -1, 0, 0)]]},
        {"route_hints": [[bolt11.RouteHop("no hex", 0, 0, 0, 0)]]},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(bolt11_write.UnwritableInvoice):
        bolt11_write.encode(**_PARTS | wrong)


def test_the_longest_description_fits() -> None:
    assert bolt11.decode(bolt11_write.encode(**_PARTS | {"description": "a" * 639})).description == "a" * 639
