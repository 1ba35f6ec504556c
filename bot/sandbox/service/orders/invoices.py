"""The service's Lightning node, as far as anybody can tell from its invoices: real, signed, and payable by nobody.

The node's key is made once and kept in the state file, so that the payee stays the same over a restart. Preimages are
derived from it, and so need no keeping.
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
_MOST_SATS: Final = 21_000_000 * 100_000_000


@dataclass(frozen=True, slots=True)
class IssuedInvoice:
    """An invoice and when, by what it says of itself, its time is over (aware UTC, whole seconds)."""

    bolt11: str
    payment_hash: str
    expires_at: datetime


class Node:
    """Writes invoices; `wrong` makes them such as no careful client would show."""

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
        expiry: timedelta,
        wrong: str | None = None,
    ) -> IssuedInvoice:
        """A new invoice for exactly `sats` (settlement API, 4.5).

        Args:
            order_id: whose invoice it is; the same order always has the same payment hash.
            sats: 1 to 21 million bitcoin.
            memo: what the payer's wallet shows.
            network: the BOLT11 prefix, such as "bc" or "bcrt".
            now: the service's clock; fractions of a second are dropped, as BOLT11 has none.
            expiry: whole seconds.
            wrong: "amount" asks for a tenth more, "network" is another network's, "expired" is over already.
        """
        stamp = now.replace(microsecond=0)
        if wrong == "expired":
            stamp -= expiry + timedelta(minutes=1)
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
        return IssuedInvoice(bolt11, payment_hash.hex(), stamp + expiry)

    def preimage(self, order_id: str) -> bytes:
        """The 32 bytes whose hash the invoice names: a payer's proof of payment."""
        return self._derived("preimage", order_id)

    def _derived(self, purpose: str, order_id: str) -> bytes:
        return hmac.digest(self._key, f"{purpose}/{order_id}".encode(), "sha256")


def payable(sats: int) -> bool:
    """Whether an invoice can ask for this."""
    return 1 <= sats < _MOST_SATS


def _another(network: str) -> str:
    return "bc" if network == "bcrt" else "bcrt"
