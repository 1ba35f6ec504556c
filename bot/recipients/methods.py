"""A payout method as the live list names it, and a recipient there. Codes and names go back exactly as they came."""

from dataclasses import dataclass
from hashlib import blake2s

from bot.recipients.banks import forms, known_as

BANK = "bank"
EWALLET = "ewallet"


@dataclass(frozen=True, slots=True)
class PayoutMethod:
    """One destination of the live list (settlement API, 2.2).

    `code` is opaque; `code` and `name` are validated as a pair. `kind` (`bank`, `ewallet`, or a word yet unknown)
    alone decides the format of the number. `cap` is the most rupiah that one payout may carry, None for no cap.
    """

    code: str
    name: str
    kind: str
    cap: int | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """Code and name as the service has them: only both together name a destination (settlement API, 4.5.3)."""
        return self.code, self.name

    def key(self) -> str:
        """Ten characters that stand for this pair of code and name in a button; they never change for the pair."""
        return blake2s(f"{self.code}\x00{self.name}".encode(), digest_size=5).hexdigest()


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
