"""Drafts that are filled from the recipients a user has saved."""

from collections.abc import Iterable
from dataclasses import replace

from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.recipients.model import SavedRecipient
from bot.recipients.saved import known_as
from bot.settlement.model import PayoutMethod


def with_recipient(draft: OrderDraft, recipient: SavedRecipient, method: PayoutMethod) -> OrderDraft:
    """The draft for this recipient at their destination as the live list has it; what is known isn't asked again."""
    filled = replace(
        draft,
        method=method,
        number=recipient.number,
        doubtful_number=None,
        holder=recipient.holder,
        holder_asked=True,
    )
    return replace(filled, ask=missing(filled))


def with_known_holder(draft: OrderDraft, recipients: Iterable[SavedRecipient]) -> OrderDraft:
    """The draft with the holder's name of an earlier order to the same number, unless one was given now."""
    known = known_as(recipients, draft.method, draft.number)
    if draft.holder is not None or known is None or known.holder is None:
        return draft
    filled = replace(draft, holder=known.holder, holder_asked=True)
    return replace(filled, ask=missing(filled))
