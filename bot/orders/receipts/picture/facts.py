"""What a receipt says, already in its reader's words."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptFacts:
    """Plain text, not HTML. Recipients are masked by whoever fills this in: the picture is made to be forwarded.

    Text may come from outside and be of any length: what the fonts can't draw is left out, what is long is wrapped,
    shrunk or cut. What identifies a receipt is kept out of `repr`, and so of logs.
    """

    brand: str
    title: str
    """That it is sent, in a word or two."""
    amount: str
    subtitle: str
    """To whom."""
    rows: tuple[tuple[str, str], ...] = field(repr=False)
    """(label, value), from the top."""
    explanation: str
    """What "sent" means."""
    code_label: str
    code: str = field(repr=False)
    """As `bot.orders.receipts.codes` writes it."""
    code_hint: str
    """How to have the code checked."""
    phrase_label: str = ""
    phrase: str = field(default="", repr=False)
    """The user's own phrase, which only the genuine bot knows; empty for none."""
    verify_url: str | None = field(default=None, repr=False)
    """What the QR code opens; None for no QR code."""
