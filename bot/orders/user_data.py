"""Orders in `/privacy` and in the exported file, and how long they keep their recipients.

Orders that are still open hold up the deletion of their user.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import case, delete, false, null, or_, select, update

from bot.infra.db.columns import blank_personal_columns, constant
from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import JsonObject, Keys, blank_rows
from bot.infra.i18n import Html, Translator, as_html
from bot.orders.evidence import Evidence
from bot.orders.order import ENDED_PHASES, EventNote, Order, OrderEvent, OrderStatus, Phase
from bot.orders.receipts.codes import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import NEWEST_FIRST, LinkQuery, OrderRepository
from bot.orders.screens.formatting import format_order_line
from bot.orders.tables import HAS_RECIPIENT, orders
from bot.payments.erc681 import format_token_amount
from bot.payments.tokens import TOKENS
from bot.settlement import json_values as nested
from bot.settlement.model import FAILED
from bot.users.user_data import MAX_LISTED, StoredData, UserData, format_time, list_first

MAX_OPEN: Final = 100
"""How many open orders of a user are read. No user can have more."""

KEEP_NEVER_SHOWN = timedelta(days=90)
"""How long rejected orders, and orders that were never shown, are kept. Nobody can have paid for them."""


def stored_orders(newest: Sequence[Order], count: int, failed: Sequence[str]) -> StoredData:
    """Return the number of orders and the newest ones, and a warning about those that were paid but failed.

    `failed` has the references of those. The user still has to resolve them.
    """
    references = Html(", ".join(f"<code>{as_html(reference)}</code>" for reference in failed))
    return StoredData(
        key="orders.privacy.orders",
        count=count,
        first=newest,
        format_line=format_order_line,
        is_shown_empty=True,
        warnings=[("orders.privacy.failed", {"references": references})] if failed else (),
    )


@dataclass(frozen=True, slots=True)
class OpenOrders:
    """Orders that have to end before their user can be deleted."""

    orders: tuple[Order, ...]

    def notice(self, t: Translator) -> str:
        """Return how many orders have to end first."""
        return t.plural("orders.privacy.open_first", len(self.orders))

    def details(self, t: Translator, now: datetime) -> str:
        """Return each order with the reason why it is still open."""
        shown = [f"• {format_order_line(t, order)}\n{t(_reason(order, now))}" for order in self.orders]
        return "\n".join(
            [t.plural("orders.privacy.still_open", len(self.orders)), *list_first(shown, len(self.orders))]
        )


def _reason(order: Order, now: datetime) -> str:
    match order.status(now):
        case OrderStatus.PLACING | OrderStatus.CHECKING | OrderStatus.UNRESOLVED:
            return "orders.privacy.open_unknown"
        case OrderStatus.NEEDS_CONFIRMATION:
            return "orders.privacy.open_held"
        case OrderStatus.OFFER_OVER:
            return "orders.privacy.open_offer_over"
        case OrderStatus.WAITING:
            return "orders.privacy.open_payable"
        case OrderStatus.EXPIRED:
            return "orders.privacy.open_expired"
        case _:
            return "orders.privacy.open_paid"


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the newest orders of a user, how many there are, and which were paid but failed."""
    newest = await OrderRepository(tx).of_user(user_id, limit=MAX_LISTED)
    of_user = select(orders.c.reference).where(orders.c.user_id == user_id)
    failed_of_user = of_user.where(orders.c.is_paid, orders.c.state == constant(FAILED))
    failed = (await tx.connection.execute(failed_of_user.order_by(*NEWEST_FIRST).limit(MAX_LISTED))).scalars()
    return stored_orders(newest, await OrderRepository(tx).count_of_user(user_id), tuple(failed))


async def blocks_deletion(tx: Transaction, user_id: int) -> OpenOrders | None:
    """Return the orders that have to end first. While money is in transit, its payer has to be reachable."""
    found = await OrderRepository(tx).open_of_user(user_id, MAX_OPEN)
    return OpenOrders(found) if found else None


async def export(tx: Transaction, keys: Sequence[Keys]) -> Sequence[JsonObject]:
    """Return orders for the exported file, each with its timeline and receipt."""
    references = [reference for (reference,) in keys]
    found = await OrderRepository(tx).with_references(references)
    receipts = {each.reference: each for each in await ReceiptRepository(tx).of_orders(references)}
    return [
        export_order(each, await OrderRepository(tx).events(each.reference), receipts.get(each.reference))
        for each in sorted(found, key=lambda order: order.created_at)
    ]


async def delete_links(tx: Transaction, origins: LinkQuery, now: datetime) -> None:
    """Remove the recipients from all orders that were made from the links of a user who is deleted.

    What the service may not have created, or its payer hasn't agreed to, is never shown. An unpaid invoice can still be
    paid, so it is followed without its recipient.
    """
    for order in await OrderRepository(tx).dropped_with_links(origins):
        abandoned = replace(order, phase=Phase.ABANDONED, bolt11=None)
        await OrderRepository(tx).save_with_event(abandoned, now, EventNote.LINK_DELETED)
    # What its payer sees stays. An invoice or a deposit can still be paid, so its seal stays, too.
    kept = ("bolt11", "deposit", "page_token", "payer_hash")
    can_be_paid = or_(orders.c.bolt11.is_not(None), orders.c.deposit.is_not(None))
    blank = {name: empty for name, empty in blank_personal_columns(orders).items() if name not in kept}
    blank["payment_seal"] = case((can_be_paid, orders.c.payment_seal), else_=null())
    await tx.connection.execute(update(orders).where(orders.c.origin.in_(origins)).values(blank))


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete orders that were never shown, and remove the recipients from old orders. Return how many changed."""
    pruned = await delete_never_shown(tx, now - KEEP_NEVER_SHOWN, limit)
    if kept is not None and pruned < limit:
        pruned += await remove_recipients(tx, now - kept, limit - pruned)
    return pruned


async def delete_never_shown(tx: Transaction, before: datetime, limit: int) -> int:
    """Delete unpaid orders from before that time that were rejected or never shown. Return how many."""
    never_shown = (
        select(orders.c.reference)
        .where(
            orders.c.phase.in_([constant(Phase.ABANDONED), constant(Phase.REFUSED)]),
            orders.c.is_paid.is_(false()),
            orders.c.created_at < before,
        )
        .limit(limit)
    )
    return (await tx.connection.execute(delete(orders).where(orders.c.reference.in_(never_shown)))).rowcount


async def remove_recipients(tx: Transaction, before: datetime, limit: int) -> int:
    """Remove the recipients from orders that ended before that time. Return from how many."""
    old = select(orders.c.reference).where(
        HAS_RECIPIENT,
        orders.c.created_at < before,
        orders.c.phase.in_([constant(phase) for phase in ENDED_PHASES]),
        or_(orders.c.ended_at.is_(None), orders.c.ended_at < before),
    )
    references = tuple((await tx.connection.execute(old.limit(limit))).scalars())
    return await blank_rows(tx, orders, orders.c.reference.in_(references)) if references else 0


def export_order(order: Order, events: Sequence[OrderEvent], receipt: Receipt | None) -> JsonObject:
    """Return an order for the exported file, with its timeline and receipt."""
    sats, token = order.sats if order.sats is not None else order.expected_sats, TOKENS.get(order.channel)
    price = (sats, "SAT") if token is None else (format_token_amount(sats), token.symbol)
    return {
        "reference": order.reference,
        "reference_at_the_service": order.service_id,
        "method": nested.from_method(order.method),
        "number": order.payer_number or None,
        "holder": order.holder,
        "asked_for": {"amount": order.amount.value, "currency": order.amount.currency},
        "idr": order.idr if order.idr is not None else order.expected_idr,
        "price": {"amount": price[0], "currency": price[1]},
        "idr_per_btc": None if order.btc_idr is None else str(order.btc_idr),
        "paid_by": order.channel,
        "from_a_link": order.origin is not None,
        "phase": str(order.phase),
        "state": order.state or None,
        "invoice": order.bolt11,
        "deposit_address": order.deposit.to_address if order.deposit else None,
        "refusal": order.payer_refusal,
        "created_at": format_time(order.created_at),
        "expires_at": format_time(order.expires_at),
        "invoice_expires_at": format_time(order.invoice_expires_at),
        "paid_at": format_time(order.paid_at),
        "ended_at": format_time(order.ended_at),
        "receipt_code": (receipt.code or None) if receipt else None,
        "reported_by_the_service": [_reported(each) for each in order.payer_evidence],
        "timeline": [_event(each) for each in events],
    }


def _reported(evidence: Evidence) -> JsonObject:
    value = evidence.value
    return {
        "name": evidence.name,
        "value": format_time(value) if isinstance(value, datetime) else value,
        "first_seen_at": format_time(evidence.seen_at),
    }


def _event(event: OrderEvent) -> JsonObject:
    return {
        "at": format_time(event.at),
        "phase": str(event.phase),
        "state": event.state or None,
        "note": str(event.note) or None,
    }


USER_DATA = UserData(
    stored=stored,
    exports={"orders": export},
    blocks_deletion=blocks_deletion,
    prune=prune,
)
