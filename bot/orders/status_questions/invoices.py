"""Find a Lightning invoice in a message. What was pasted is never saved or logged."""

import re
from typing import Final

_INVOICE: Final = re.compile(r"(?<![a-z0-9])ln(?:bc|tb|sb)[a-z0-9]{40,}", re.IGNORECASE)
"""All networks, also "lnbcrt" and "lntbs". The first part of an invoice is enough to know that it is one."""


def find_invoice(text: str) -> str | None:
    """Return the first invoice in `text` in lower case, perhaps cut off or damaged, or None."""
    found = _INVOICE.search(text)
    return found[0].lower() if found else None
