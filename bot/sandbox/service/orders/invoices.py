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

from bot.payments.bolt11 import encode

if TYPE_CHECKING:
    from bot.sandbox.service.storage import Storage

_FACT: Final = "node_key"
_MSAT_PER_SAT: Final = 1000
_HOUR: Final = timedelta(hours=1)
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
            stamp -= (expiry or _HOUR) + timedelta(minutes=1)
        asked = sats + max(1, sats // 10) if wrong == "amount" else sats
        payment_hash = hashlib.sha256(self.preimage(order_id)).digest()
        bolt11 = encode(
            private_key=self._key,
            amount_msat=asked * _MSAT_PER_SAT,
            currency=_another(network) if wrong == "network" else network,
            timestamp=stamp,
            expiry=expiry,
            description=memo,
            payment_hash=payment_hash,
            payment_secret=self._derived("secret", order_id),
        )
        return IssuedInvoice(bolt11, payment_hash.hex(), stamp + expiry if expiry else None)

    def preimage(self, order_id: str) -> bytes:
        """Return the 32 bytes whose hash is in the invoice: a payer's proof of payment."""
        return self._derived("preimage", order_id)

    def _derived(self, purpose: str, order_id: str) -> bytes:
        return hmac.digest(self._key, f"{purpose}/{order_id}".encode(), "sha256")


def payable(sats: int) -> bool:
    """Return whether an invoice can ask for this amount."""
    return 1 <= sats < _MOST_SATS


def _another(network: str) -> str:
    return "bc" if network == "bcrt" else "bcrt"
