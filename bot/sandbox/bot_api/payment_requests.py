"""What the bot asks users to pay: the invoice or the deposit in a message, and the order's reference in it.

The settlement service knows neither the user nor the reference. The chat page shows both with an order, also after the
bot has changed or deleted the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.sandbox.bot_api.model import JsonObject, StoredMessage

_INVOICE: Final = re.compile(r"ln(?:bcrt|bc|tbs|tb)\d*[munp]?1[02-9ac-hj-np-z]{100,}", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\d+(?:\.\d+)?")
# The first line about an order ends with its reference: "Rp500,000 → BCA ••••7890 · ABC2345".
_REFERENCE: Final = re.compile(r"· ?([0-9A-Z]{4,16})\s*$", re.MULTILINE)
_SATS_IN_BITCOIN: Final = 10**8


@dataclass
class PaymentRequest:
    """A message that asks for a payment. `payment` is the invoice in small letters, or "<address> <sats>"."""

    payment: str
    chat_id: int
    reference: str


def find(message: StoredMessage) -> PaymentRequest | None:
    """Return what a message of the bot asks to pay, or None."""
    text = str(message.body.get("text") or message.body.get("caption") or "")
    reference = _REFERENCE.search(text) if message.outgoing else None
    if reference is None:
        return None
    invoice = _INVOICE.search(text)
    payment = invoice[0].lower() if invoice else _find_deposit(message.body)
    return None if payment is None else PaymentRequest(payment, message.chat_id, reference[1])


def _find_deposit(body: JsonObject) -> str | None:
    """Return the address and the sats that the buttons of a message copy."""
    copied = list(_read_copy_buttons(body))
    address = next((text for text in copied if _ADDRESS.fullmatch(text)), None)
    amount = next((text for text in copied if _AMOUNT.fullmatch(text)), None)
    if address is None or amount is None:
        return None
    return f"{address.lower()} {int(Decimal(amount) * _SATS_IN_BITCOIN)}"


def _read_copy_buttons(body: JsonObject) -> Iterator[str]:
    for row in body.get("reply_markup", {}).get("inline_keyboard", ()):
        for button in row:
            if "copy_text" in button:
                yield button["copy_text"]["text"]
