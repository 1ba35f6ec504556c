"""A payout method as the live list names it, and a recipient there. Codes and names go back exactly as they came."""

from dataclasses import dataclass

from bot.recipients.banks import forms, known_as
from bot.settlement.model import PayoutMethod


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who receives: `number` as `clean_number` returned it, and the holder's name where one was given."""

    method: PayoutMethod
    number: str
    holder: str | None = None


def display_name(method: PayoutMethod) -> str:
    """What people call this destination ("BCA"); the live name, verbatim, where it isn't surely the one we know."""
    known = known_as(method.code, method.name)
    if known is None or not forms(method.name) & (forms(known.name) | forms(known.label)):
        return method.name
    return known.label
