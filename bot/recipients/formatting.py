"""Format payout methods, account numbers and saved recipients for messages and buttons."""

from bot.core.text import plain
from bot.infra.telegram.ui.reader import clip
from bot.recipients.banks import display_name
from bot.recipients.model import SavedRecipient, recipient_title
from bot.recipients.numbers import mask_number
from bot.settlement.model import BANK, EWALLET, PayoutMethod

MAX_LISTED_NAME = 120
MAX_BUTTON_NAME = 24
"""Characters."""

GROUP_DIGITS = 4


def format_method(method: PayoutMethod | None) -> str:
    """Return what people call a payout method. The text is never empty, and fits on a button."""
    return clip(plain(display_name(method))) or "?" if method else ""


def format_full_method(method: PayoutMethod | None) -> str:
    """Return what people call a payout method, with its listed name if that differs: "BCA · BANK CENTRAL ASIA"."""
    called = format_method(method)
    listed = clip(plain(method.name), MAX_LISTED_NAME) if method else ""
    if clip(listed) == called:
        return listed
    return called if called.casefold() in {listed.casefold(), ""} else f"{called} · {listed}"


def format_destination(method: PayoutMethod, number: str) -> str:
    """Return a method with the masked number: "BCA ••••7890". Without a number it is the method alone."""
    return format_method(method) if not number else f"{format_method(method)} {mask_number(number)}"


def group_digits(number: str) -> str:
    """Return an account or mobile number in groups of four, which are easier to check: "1234 5678 90"."""
    return " ".join(number[start : start + GROUP_DIGITS] for start in range(0, len(number), GROUP_DIGITS))


def format_recipient(recipient: SavedRecipient) -> str:
    """Return a saved recipient for a button: "Ibu · BCA ••••7890". Names are cut so that the digits stay visible."""
    where = f"{clip(format_method(recipient.method), MAX_BUTTON_NAME)} {mask_number(recipient.number)}"
    called = clip(plain(recipient_title(recipient)), MAX_BUTTON_NAME)
    return f"{called} · {where}" if called else where


def kind_key(method: PayoutMethod) -> str:
    """Return "bank" or "ewallet". Keys of texts that differ between the two end with it."""
    return EWALLET if method.kind == EWALLET else BANK
