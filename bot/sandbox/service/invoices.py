"""The service's Lightning node. Its invoices are real and signed, but nobody can pay them.

The node's key is created once and kept in the state file, so that the payee survives a restart. Preimages are derived
from it and aren't stored.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from bot.payments import bech32, secp256k1
from bot.payments.bolt11 import (
    BASIC_MPP,
    DEFAULT_EXPIRY,
    DEFAULT_MIN_FINAL_CLTV,
    MSAT_PER_SAT,
    MSAT_PER_UNIT,
    PAYMENT_SECRET,
    TIMESTAMP_GROUPS,
    VAR_ONION,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.sandbox.service.book import Storage

_FACT: Final = "node_key"
# As today's nodes set them: the first two required, multi-part payments optional (the odd bit).
_FEATURES: Final = 1 << VAR_ONION | 1 << PAYMENT_SECRET | 1 << BASIC_MPP + 1
_MOST_SATS: Final = 21_000_000 * 100_000_000


@dataclass(frozen=True, slots=True)
class IssuedInvoice:
    """An invoice and its own expiry (aware UTC, whole seconds), if it has one."""

    bolt11: str
    payment_hash: str
    expires_at: datetime | None


class Node:
    """Write invoices. `wrong` makes invoices that a careful client rejects."""

    def __init__(self, storage: Storage) -> None:
        kept = storage.fact(_FACT)
        if kept is None:
            kept = secrets.token_hex(32)
            storage.set_fact(_FACT, kept)
        self._key = bytes.fromhex(kept)

    def invoice(
        self,
        *,
        order_id: str,
        sats: int,
        memo: str,
        network: str,
        now: datetime,
        expiry: timedelta | None,
        wrong: str | None = None,
    ) -> IssuedInvoice:
        """Return a new invoice for exactly `sats` (settlement API, 4.5).

        Args:
            order_id: the order; the same order always has the same payment hash.
            sats: 1 to 21 million bitcoin.
            memo: what the payer's wallet shows.
            network: the BOLT11 prefix, such as "bc" or "bcrt".
            now: the service's clock; fractions of a second are dropped, as BOLT11 has none.
            expiry: whole seconds. None: the invoice has no expiry of its own, so it can be paid for an hour.
            wrong: "amount" asks for 10% more, "network" uses another network, "expired" has already expired.
        """
        stamp = now.replace(microsecond=0)
        if wrong == "expired":
            stamp -= (expiry or DEFAULT_EXPIRY) + timedelta(minutes=1)
        asked = sats + max(1, sats // 10) if wrong == "amount" else sats
        payment_hash = hashlib.sha256(self.preimage(order_id)).digest()
        groups = [
            *bech32.int_to_groups(int(stamp.timestamp()), TIMESTAMP_GROUPS),
            *_field("s", bech32.bytes_to_groups(self._derived("secret", order_id))),
            *_field("p", bech32.bytes_to_groups(payment_hash)),
            *_field("d", bech32.bytes_to_groups(memo.encode())),
            *(_field("x", bech32.int_to_groups(int(expiry.total_seconds()))) if expiry else ()),
            *_field("c", bech32.int_to_groups(DEFAULT_MIN_FINAL_CLTV)),
            *_field("9", bech32.int_to_groups(_FEATURES)),
        ]
        bolt11 = self._sign(_write_front(_another(network) if wrong == "network" else network, asked), groups)
        return IssuedInvoice(bolt11, payment_hash.hex(), stamp + expiry if expiry else None)

    def preimage(self, order_id: str) -> bytes:
        """Return the 32 bytes whose hash is in the invoice: a payer's proof of payment."""
        return self._derived("preimage", order_id)

    def _sign(self, front: str, groups: list[int]) -> str:
        """Sign the human-readable part, time stamp and fields, and write the invoice as bech32."""
        digest = hashlib.sha256(front.encode() + bech32.groups_to_padded_bytes(groups)).digest()
        return bech32.encode(front, [*groups, *bech32.bytes_to_groups(secp256k1.sign(self._key, digest))])

    def _derived(self, purpose: str, order_id: str) -> bytes:
        return hmac.digest(self._key, f"{purpose}/{order_id}".encode(), "sha256")


def payable(sats: int) -> bool:
    """Return whether an invoice can ask for this amount."""
    return 1 <= sats < _MOST_SATS


def _write_front(network: str, sats: int) -> str:
    """Write the human-readable part with the shortest amount."""
    multiplier, unit = next(each for each in MSAT_PER_UNIT.items() if sats * MSAT_PER_SAT % each[1] == 0)
    return f"ln{network}{sats * MSAT_PER_SAT // unit}{multiplier}"


def _field(tag: str, content: Sequence[int]) -> list[int]:
    """Write a field: its tag, its length and its 5-bit groups."""
    return [bech32.CHARSET.index(tag), *bech32.int_to_groups(len(content), 2), *content]


def _another(network: str) -> str:
    return "bc" if network == "bcrt" else "bcrt"
