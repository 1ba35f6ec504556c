"""Find a Lightning invoice, or something else to pay to, in a message. What was pasted is never saved or logged."""

import re
from typing import Final

_INVOICE: Final = re.compile(r"(?<![a-z0-9])ln(?:bc|tb|sb)[a-z0-9]{40,}", re.IGNORECASE)
"""All networks, also "lnbcrt" and "lntbs". The first part of an invoice is enough to know that it is one."""

_PAYEE: Final = re.compile(
    r"(?:lightning:|₿)?(?:lnurl1[a-z0-9]{20,}|lno1[a-z0-9]{20,}|[a-z0-9._+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24})",
    re.IGNORECASE | re.ASCII,
)
"""LNURL, a BOLT12 offer, or a Lightning Address."""


def find_invoice(text: str) -> str | None:
    """Return the first invoice in `text` in lower case, perhaps cut off or damaged, or None."""
    found = _INVOICE.search(text)
    return found[0].lower() if found else None


def is_payee(text: str) -> bool:
    """Return whether `text` is an LNURL, a Lightning Address or an offer, and nothing else."""
    return _PAYEE.fullmatch(text.strip()) is not None
