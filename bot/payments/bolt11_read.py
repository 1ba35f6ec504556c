"""Reading and verifying of BOLT11 invoices. An invoice that isn't fully understood is never shown to a payer."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from bot.payments import bech32, bolt11_fields, secp256k1
from bot.payments.amount import parse_front
from bot.payments.errors import MalformedInvoice
from bot.payments.invoice import Invoice
from bot.payments.tokens import LIGHTNING_SCHEME

# The capacity of the largest QR code. Real invoices have a few hundred characters.
MAX_LENGTH: Final = 7_089

TIMESTAMP_GROUPS: Final = 7
SIGNATURE_GROUPS: Final = 104


def decode(text: str) -> Invoice:
    """Read an invoice and verify its signature. Any case, spaces around it and a `lightning:` prefix are accepted.

    Raises:
        MalformedInvoice: not BOLT11, damaged, ambiguous, or with a wrong signature.
        UnsupportedInvoice: an unknown currency or required feature, or an expiry beyond a century.
    """
    if len(text) > MAX_LENGTH:
        raise MalformedInvoice("too long")
    text = _without_scheme(text)
    front, groups = bech32.decode(text)
    currency, amount_msat = parse_front(front)
    if len(groups) < TIMESTAMP_GROUPS + SIGNATURE_GROUPS:
        raise MalformedInvoice("too short")
    fields = bolt11_fields.split_fields(groups[TIMESTAMP_GROUPS:-SIGNATURE_GROUPS])
    return Invoice(
        currency=currency,
        amount_msat=amount_msat,
        timestamp=datetime.fromtimestamp(bech32.groups_to_int(groups[:TIMESTAMP_GROUPS]), tz=UTC),
        expiry=bolt11_fields.read_expiry(fields),
        payment_hash=bolt11_fields.read_required_hex(fields, "p"),
        payment_secret=bolt11_fields.read_required_hex(fields, "s"),
        description=bolt11_fields.read_description(fields),
        description_hash=bolt11_fields.read_hex(fields, "h"),
        payee=_verified_payee(front, groups, bolt11_fields.read_hex(fields, "n")),
        features=bolt11_fields.read_features(fields),
        min_final_cltv=bolt11_fields.read_min_final_cltv(fields),
        route_hints=bolt11_fields.read_route_hints(fields),
        fallbacks=bolt11_fields.read_fallbacks(fields),
        metadata=bolt11_fields.read_hex(fields, "m"),
        text=text.lower(),
    )


def normalize(text: str) -> str:
    """Return the canonical spelling of an invoice: lower case, without spaces and `lightning:`."""
    return _without_scheme(text).lower()


def _without_scheme(text: str) -> str:
    text = text.strip()
    return text[len(LIGHTNING_SCHEME) :] if text[: len(LIGHTNING_SCHEME)].lower() == LIGHTNING_SCHEME else text


def _verified_payee(front: str, groups: list[int], stated: str | None) -> str:
    """Return the payee's key: the stated one if it signed the invoice, or the recovered one if none is stated."""
    message = front.encode() + bech32.groups_to_padded_bytes(groups[:-SIGNATURE_GROUPS])
    digest = sha256(message).digest()
    signature = bech32.groups_to_bytes(groups[-SIGNATURE_GROUPS:])
    try:
        if stated is None:
            return secp256k1.recover(signature, digest).hex()
        # With a stated payee the recovery id is ignored, and a high S is rejected as BOLT11 requires.
        if secp256k1.is_signed_by(bytes.fromhex(stated), signature, digest):
            return stated
    except ValueError:
        raise MalformedInvoice("the signature is no signature, or the payee no key") from None
    raise MalformedInvoice("the signature is not the payee's")
