"""Every example of the BOLT11 document, valid and invalid. The examples are in a data file in this folder."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.payments import bolt11

_FILE = Path(__file__).parent / "data" / "bolt11-vectors.json"
_VECTORS: list[dict[str, Any]] = json.loads(_FILE.read_text("utf-8"))["vectors"]
_VALID = [vector for vector in _VECTORS if vector["valid"]]
_INVALID = [vector for vector in _VECTORS if not vector["valid"]]

# The node that signs the document's examples, except for two that are about another key.
_PAYEE = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"
_HIGH_S_PAYEE_STARTS = "02d0139c"

_REASONS = {
    "Same, but adding invalid unknown feature 100": "feature 100",
    "Bech32 checksum is invalid.": "checksum",
    "Malformed bech32 string (no 1)": "separator",
    "Malformed bech32 string (mixed case)": "case",
    "Signature is not recoverable.": "signature",
    "String is too short.": "short",
    "Invalid multiplier": "multiplier",
    "Invalid sub-millisatoshi precision.": "millisatoshi",
    "Missing required `s` field.": "field s is missing",
    # This example repeats its `s` field, which is rejected first. The reader's tests cover high S.
    "Non canonical signature (high-S) with 'n' field defined": "field s is repeated",
}


def _title(vector: dict[str, Any]) -> str:
    return str(vector["title"])[:60]


def test_no_example_is_left_out() -> None:
    assert (len(_VALID), len(_INVALID)) == (16, 10)


@pytest.mark.parametrize("vector", _VALID, ids=_title)
def test_a_valid_example_reads_as_the_document_says(vector: dict[str, Any]) -> None:
    invoice = bolt11.decode(vector["invoice"])
    expected = vector["expect"]
    assert invoice.amount_msat == expected["amount_msat"]
    assert invoice.timestamp == datetime.fromtimestamp(expected["timestamp"], tz=UTC)
    assert invoice.expiry == timedelta(seconds=expected["expiry_s"])
    assert invoice.payment_hash == expected["payment_hash"]
    assert invoice.description == expected["description"]
    assert invoice.currency == expected["currency"]
    assert invoice.text == vector["invoice"].lower()


@pytest.mark.parametrize("vector", _VALID, ids=_title)
def test_a_valid_example_names_its_payee_and_secret(vector: dict[str, Any]) -> None:
    invoice = bolt11.decode(vector["invoice"])
    payee = _HIGH_S_PAYEE_STARTS if "high-S" in vector["title"] else _PAYEE
    assert invoice.payee.startswith(payee)
    assert invoice.payment_secret == "11" * 32


@pytest.mark.parametrize("vector", _INVALID, ids=_title)
def test_an_invalid_example_is_refused_for_its_own_reason(vector: dict[str, Any]) -> None:
    with pytest.raises(bolt11.InvoiceError, match=_REASONS[vector["title"]]):
        bolt11.decode(vector["invoice"])
