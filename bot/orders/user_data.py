"""Show, export, delete and prune the orders of a user.

After a deletion, orders keep amounts, times, the destination and the service's id, for the books and for support. The
user and the recipient are removed. Without the service's id, nobody could find out what happened to the money.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Select, case, delete, false, null, or_, select, update

from bot.infra.db.columns import blank_personal_columns, constant
from bot.infra.db.transaction import Transaction
from bot.orders.evidence import Evidence
from bot.orders.missed_order_repository import MissedOrder, MissedOrderRepository
from bot.orders.order import EventNote, Order, OrderEvent, Phase
from bot.orders.payer import Payer, payer_in_chat
from bot.orders.receipts.codes import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.receipts.wrong_code_repository import WrongCodeRepository
from bot.orders.repository import NEWEST_FIRST, LinkQuery, OrderRepository, is_of_payer
from bot.orders.screens.privacy import OpenOrders, StoredOrders
from bot.orders.tables import HAS_RECIPIENT, missed_orders, orders, receipts, wrong_codes
from bot.recipients.user_data import method_json
from bot.settlement.steps import FAILED
from bot.users.user_data import MAX_LISTED, NOBODY, JsonObject, Rows, UserData, format_time

NOT_ENDED: Final = 100
"""How many open orders of a user are read. No user can have more."""

KEEP_NEVER_SHOWN = timedelta(days=90)
"""How long rejected orders, and orders that were never shown, are kept. Nobody can have paid for them."""

ENDED = (Phase.DONE, Phase.REFUSED, Phase.ABANDONED)

# The version increases, so that a process that read the order before can't write its recipient back.
# The hash goes with the address of the page: nothing is left that could show the order to a payer without a chat.
WITHOUT_RECIPIENT = {**blank_personal_columns(orders), "payer_hash": null(), "version": orders.c.version + 1}


async def stored(tx: Transaction, user_id: int) -> StoredOrders:
    """Return the newest orders of a user, how many there are, and which were paid but failed."""
    newest = await OrderRepository(tx).of_user(user_id, limit=MAX_LISTED)
    of_user = select(orders.c.reference).where(orders.c.user_id == user_id)
    failed_of_user = of_user.where(orders.c.is_paid, orders.c.state == constant(FAILED))
    failed = (await tx.connection.execute(failed_of_user.order_by(*NEWEST_FIRST).limit(MAX_LISTED))).scalars()
    return StoredOrders(newest, await OrderRepository(tx).count_of_user(user_id), tuple(failed))


async def blocks_deletion(tx: Transaction, user_id: int) -> OpenOrders | None:
    """Return the orders that have to end first. While money is in transit, its payer has to be reachable."""
    found = await OrderRepository(tx).open_of_user(user_id, NOT_ENDED)
    return OpenOrders(found) if found else None


async def export_user(tx: Transaction, user_id: int) -> JsonObject:
    """Return which messages about orders the user missed."""
    missed = await MissedOrderRepository(tx).of_user(user_id)
    return {"missed_messages": [_missed(each) for each in missed]}


async def export(tx: Transaction, user_id: int, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return orders for the exported file, each with its timeline and receipt."""
    return await export_payer(tx, payer_in_chat(user_id), limit, offset)


async def export_payer(tx: Transaction, payer: Payer, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return a payer's orders, each with its timeline and receipt."""
    events, receipts_of = OrderRepository(tx).events, ReceiptRepository(tx).of_order
    found = await OrderRepository(tx).of_payer(payer, limit=limit, offset=offset)
    return [export_order(each, await events(each.reference), await receipts_of(each.reference)) for each in found]


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Remove the user and the recipients from the user's orders, which must have ended."""
    for table in (missed_orders, wrong_codes):
        await tx.connection.execute(delete(table).where(table.c.user_id == user_id))
    await delete_payer(tx, payer_in_chat(user_id))


async def delete_links(tx: Transaction, origins: LinkQuery, now: datetime) -> None:
    """Remove the recipients from all orders that were made from the links of a user who is deleted.

    What the service may not have created, or its payer hasn't agreed to, is never shown. An unpaid invoice can still be
    paid, so it is followed without its recipient.
    """
    for order in await OrderRepository(tx).dropped_with_links(origins):
        kept = await OrderRepository(tx).save(replace(order, phase=Phase.ABANDONED, bolt11=None))
        if kept is not None:
            await OrderRepository(tx).record_event(kept, now, EventNote.LINK_DELETED)
    # An invoice or a deposit stays, and its seal with it: it can still be paid. A row without both needs no seal.
    can_be_paid = or_(orders.c.bolt11.is_not(None), orders.c.deposit.is_not(None))
    blank = {
        **dict.fromkeys(("holder", "refusal", "evidence"), null()),
        "number": "",
        "payment_seal": case((can_be_paid, orders.c.payment_seal), else_=null()),
        "version": orders.c.version + 1,
    }
    await tx.connection.execute(update(orders).where(orders.c.origin.in_(origins)).values(blank))


async def delete_payer(tx: Transaction, payer: Payer) -> None:
    """Remove the payer and the recipients from the payer's orders, which must have ended."""
    theirs = is_of_payer(payer)
    # The hash stays, so that a forwarded receipt can still be verified.
    await _blank_codes(tx, select(orders.c.reference).where(theirs))
    nobody = {"user_id": NOBODY, "chat_id": NOBODY, **WITHOUT_RECIPIENT}
    await tx.connection.execute(update(orders).where(theirs).values(nobody))


async def _blank_codes(tx: Transaction, references: Select[str] | Sequence[str]) -> None:
    of_orders = update(receipts).where(receipts.c.reference.in_(references))
    await tx.connection.execute(of_orders.values(blank_personal_columns(receipts)))


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete orders that were never shown, and remove the recipients from old orders. Return how many changed."""
    pruned = await delete_never_shown(tx, now - KEEP_NEVER_SHOWN, limit)
    if kept is not None and pruned < limit:
        pruned += await remove_recipients(tx, now - kept, limit - pruned)
    if kept is not None and pruned < limit:
        pruned += await MissedOrderRepository(tx).delete_before(now - kept)
    if pruned < limit:
        pruned += await WrongCodeRepository(tx).delete_full(now, limit - pruned)
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
        orders.c.phase.in_([constant(phase) for phase in ENDED]),
        or_(orders.c.ended_at.is_(None), orders.c.ended_at < before),
    )
    references = tuple((await tx.connection.execute(old.limit(limit))).scalars())
    if references:
        await _blank_codes(tx, references)
        ended = update(orders).where(orders.c.reference.in_(references))
        await tx.connection.execute(ended.values(WITHOUT_RECIPIENT))
    return len(references)


def export_order(order: Order, events: Sequence[OrderEvent], receipt: Receipt | None) -> JsonObject:
    """Return an order for the exported file, with its timeline and receipt."""
    return {
        "reference": order.reference,
        "reference_at_the_service": order.service_id,
        "destination": method_json(order.method),
        "number": order.payer_number or None,
        "holder": order.holder,
        "asked_for": {"amount": order.amount.value, "currency": order.amount.currency},
        "idr": order.idr if order.idr is not None else order.expected_idr,
        "sats": order.sats if order.sats is not None else order.expected_sats,
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


def _missed(missed: MissedOrder) -> JsonObject:
    about = {"about_order": missed.reference} if missed.link is None else {"about_link": missed.link}
    return {**about, "refused_by_telegram_at": format_time(missed.at)}


USER_DATA = UserData(
    feature="orders",
    rows={"orders": Rows(orders, export)},
    stored=stored,
    blocks_deletion=blocks_deletion,
    export_user=export_user,
    delete_user=delete_user,
    prune=prune,
)
