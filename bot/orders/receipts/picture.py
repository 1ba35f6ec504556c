"""The texts of a receipt's picture, in its reader's language."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFacts:
    """The texts of a receipt, as plain text. The caller masks recipients, because the picture is made for forwarding.

    Texts may come from outside and have any length. Characters that the fonts lack are left out, and long texts are
    wrapped, shrunk or cut. Fields that identify a receipt aren't in `repr`, so that they aren't logged.
    """

    brand: str
    title: str
    """A short text: the rupiah were sent."""
    amount: str
    subtitle: str
    """The recipient."""
    rows: tuple[tuple[str, str], ...] = field(repr=False)
    """Pairs of label and value, from the top."""
    explanation: str
    """What "sent" means."""
    code_label: str
    code: str = field(repr=False)
    """The code with dashes, as `new_code` returns it."""
    code_hint: str
    """How to verify the code."""
    verify_url: str | None = field(default=None, repr=False)
    """The address in the QR code. None for no QR code."""
