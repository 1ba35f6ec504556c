"""The review of a draft, and the order that it becomes when it is confirmed."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot.checkout.draft import DraftStatus, OrderDraft, Step
from bot.checkout.flow import is_complete
from bot.checkout.repository import DraftRepository
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order
from bot.orders.payer import payer_in_chat
from bot.orders.placement.service import ConfirmationOutdated, OrderService, PlaceOrder
from bot.rates.model import Estimate
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import OrderRequest


async def review_draft(orders: OrderService, draft: OrderDraft, placed: Sequence[Order]) -> tuple[OrderDraft, Estimate]:
    """Return the draft with the quote that its review shows, and what it comes to.

    `placed` are the user's orders that may count for their limits.

    Raises:
        ConfirmationOutdated: the draft has no amount.
        Rejection: the amount isn't allowed.
        SettlementFailure: there is no quote.
    """
    if draft.amount is None:
        raise ConfirmationOutdated
    worth = await orders.estimate_order(placed, draft.method, draft.amount, draft.channel)
    return replace(draft, quote=worth.quote), worth


async def with_quote(catalogue: ServiceCatalogue, draft: OrderDraft) -> OrderDraft:
    """Return a draft at its review with the current quote, so that the answer and the quote are saved together.

    Without a quote, return it as it is: its review says why.
    """
    quote = await catalogue.quote_soon() if draft.step is Step.REVIEW else None
    return draft if quote is None else replace(draft, quote=quote)


async def place_draft(
    orders: OrderService, draft: OrderDraft, phrase: str | None = None, reviewed_sats: int | None = None
) -> Order:
    """Place the order of a draft once, and return it. A second tap gets the order of the first.

    `phrase` and `reviewed_sats` are as in `PlaceOrder`. Raises as `OrderService.place` does, and `ConfirmationOutdated`
    for an incomplete draft. Nothing is saved then.
    """
    if draft.status is DraftStatus.PLACED:
        return await orders.get_placed(draft.id)
    request = replace(_request_of(draft), phrase=phrase, reviewed_sats=reviewed_sats)
    return await orders.place(request, partial(_close, draft))


async def _close(draft: OrderDraft, tx: Transaction) -> bool:
    """Save the draft as placed, and return False if something else has changed it since it was read."""
    return await DraftRepository(tx).save(replace(draft, status=DraftStatus.PLACED)) is not None


def _request_of(draft: OrderDraft) -> PlaceOrder:
    if not is_complete(draft) or draft.method is None or draft.number is None:
        raise ConfirmationOutdated
    if draft.amount is None or draft.quote is None:
        raise ConfirmationOutdated
    return PlaceOrder(
        payer=payer_in_chat(draft.user_id, draft.chat_id),
        draft_id=draft.id,
        wanted=OrderRequest(
            method=draft.method,
            number=draft.number,
            holder=draft.holder,
            amount=draft.amount,
            channel=draft.channel,
        ),
        quote=draft.quote,
        message_id=draft.message_id,
    )
