"""The texts of a request's card, a picture with a QR code, in its reader's language."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFacts:
    """The texts of a card, in its reader's language, as plain text of any length. What the asker wrote isn't logged."""

    brand: str
    title: str = field(repr=False)
    """Who asks, in the asker's own words."""

    amount: str
    subtitle: str
    """Bank or e-wallet, with the last digits of the number."""

    note: str = field(repr=False)
    """Empty for none."""

    link: str = field(repr=False)
    hint: str
    """How to pay with the QR code."""
