"""Show, export, delete and prune the orders of a user.

After a deletion, orders keep amounts, times, the destination and the service's id, for the books and for support. The
user and the recipient are removed. Without the service's id, nobody could find out what happened to the money.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import BindParameter, Integer, bindparam, delete, false, null, or_, select, update

from bot.infra.db.columns import blank_personal_columns, constant
from bot.infra.db.transaction import Transaction
from bot.orders.evidence import Evidence
from bot.orders.missed_order_repository import MissedOrder, MissedOrderRepository
from bot.orders.order import UNCERTAIN_PHASES, EventNote, Order, OrderEvent, Phase
from bot.orders.payer import Payer, payer_in_chat
from bot.orders.receipts.model import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.receipts.wrong_code_repository import WrongCodeRepository
from bot.orders.repository import IS_PAGES, IS_USERS, OrderRepository, payer_key
from bot.orders.screens.privacy import OpenOrders, StoredOrders
from bot.orders.tables import HAS_RECIPIENT, missed_orders, orders, receipts, wrong_codes
from bot.recipients.user_data import method_json
from bot.users.user_data import NOBODY, JsonObject, UserData, format_time

NOT_ENDED: Final = 100
"""How many open orders of a user are read. No user can have more."""

PAGE: Final = 500
KEEP_NEVER_SHOWN = timedelta(days=90)
"""How long rejected orders, and orders that were never shown, are kept. Nobody can have paid for them."""

ENDED = (Phase.DONE, Phase.REFUSED, Phase.ABANDONED)
LIMIT: BindParameter[int] = bindparam("limit", type_=Integer())
BEFORE = bindparam("before", type_=orders.c.created_at.type)

# The version increases, so that a process that read the order before can't write its recipient back.
# The hash goes with the address of the page: nothing is left that could show the order to a payer without a chat.
WITHOUT_RECIPIENT = {**blank_personal_columns(orders), "payer_hash": null(), "version": orders.c.version + 1}
USER = bindparam("user", type_=orders.c.user_id.type)
DELETE_OF_USER = (
    delete(missed_orders).where(missed_orders.c.user_id == USER),
    delete(wrong_codes).where(wrong_codes.c.user_id == USER),
)
DELETE_OF_PAYER = {
    has_chat: (
        # The hash stays, so that a forwarded receipt can still be verified.
        update(receipts)
        .where(receipts.c.reference.in_(select(orders.c.reference).where(is_theirs)))
        .values(blank_personal_columns(receipts)),
        update(orders).where(is_theirs).values(user_id=NOBODY, chat_id=NOBODY, **WITHOUT_RECIPIENT),
    )
    for has_chat, is_theirs in ((True, IS_USERS), (False, IS_PAGES))
}

NEVER_SHOWN = (
    select(orders.c.reference)
    .where(
        orders.c.phase.in_([constant(Phase.ABANDONED), constant(Phase.REFUSED)]),
        orders.c.is_paid.is_(false()),
        orders.c.created_at < BEFORE,
    )
    .limit(LIMIT)
)
DELETE_NEVER_SHOWN = delete(orders).where(orders.c.reference.in_(NEVER_SHOWN))
OLD = (
    select(orders.c.reference)
    .where(
        HAS_RECIPIENT,
        orders.c.created_at < BEFORE,
        orders.c.phase.in_([constant(phase) for phase in ENDED]),
        or_(orders.c.ended_at.is_(None), orders.c.ended_at < BEFORE),
    )
    .limit(LIMIT)
)
REFERENCES: BindParameter[tuple[str, ...]] = bindparam("references", expanding=True)
BLANK_CODES = update(receipts).where(receipts.c.reference.in_(REFERENCES)).values(blank_personal_columns(receipts))
BLANK_ORDERS = update(orders).where(orders.c.reference.in_(REFERENCES)).values(**WITHOUT_RECIPIENT)


async def stored(tx: Transaction, user_id: int) -> StoredOrders:
    """Return all orders of a user."""
    return StoredOrders(await _read_all_orders(tx, payer_in_chat(user_id)))


async def has_any(tx: Transaction, user_id: int) -> bool:
    """Return whether the user has an order."""
    return bool(await OrderRepository(tx).of_user(user_id, limit=1))


async def blocks_deletion(tx: Transaction, user_id: int) -> OpenOrders | None:
    """Return the orders that have to end first. While money is in transit, its payer has to be reachable."""
    found = await OrderRepository(tx).open_of_user(user_id, NOT_ENDED)
    return OpenOrders(found) if found else None


async def export_user(tx: Transaction, user_id: int) -> JsonObject:
    """Return the orders of the exported file, each with its timeline and receipt."""
    missed = await MissedOrderRepository(tx).of_user(user_id)
    return {**await export_payer(tx, payer_in_chat(user_id)), "missed_messages": [_missed(each) for each in missed]}


async def export_payer(tx: Transaction, payer: Payer) -> JsonObject:
    """Return a payer's orders, each with its timeline and receipt."""
    found = await _read_all_orders(tx, payer)
    events = {order.reference: await OrderRepository(tx).events(order.reference) for order in found}
    receipts_of = {order.reference: await ReceiptRepository(tx).of_order(order.reference) for order in found}
    return sections(found, events, receipts_of)


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Remove the user and the recipients from the user's orders, which must have ended."""
    for statement in DELETE_OF_USER:
        await tx.connection.execute(statement, {"user": user_id})
    await delete_payer(tx, payer_in_chat(user_id))


async def delete_links(tx: Transaction, origins: Collection[str], now: datetime) -> None:
    """Remove the recipients from all orders that were made from these links, whose user is deleted.

    What the service may not have created, or its payer hasn't agreed to, is never shown. An unpaid invoice can still be
    paid, so it is followed without its recipient.
    """
    for order in await OrderRepository(tx).of_links(origins):
        is_dropped = order.phase in {*UNCERTAIN_PHASES, Phase.NEEDS_CONFIRMATION}
        if is_dropped:
            order = replace(order, phase=Phase.ABANDONED, bolt11=None)  # noqa: PLW2901  the same order
        kept = await OrderRepository(tx).save(replace(order, number="", holder=None, refusal=None, evidence=()))
        if kept is not None and is_dropped:
            await OrderRepository(tx).record_event(kept, now, EventNote.LINK_DELETED)


async def delete_payer(tx: Transaction, payer: Payer) -> None:
    """Remove the payer and the recipients from the payer's orders, which must have ended."""
    for statement in DELETE_OF_PAYER[payer.has_chat]:
        await tx.connection.execute(statement, payer_key(payer))


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
    return (await tx.connection.execute(DELETE_NEVER_SHOWN, {"before": before, "limit": limit})).rowcount


async def remove_recipients(tx: Transaction, before: datetime, limit: int) -> int:
    """Remove the recipients from orders that ended before that time. Return from how many."""
    references = tuple((await tx.connection.execute(OLD, {"before": before, "limit": limit})).scalars())
    if references:
        await tx.connection.execute(BLANK_CODES, {"references": references})
        await tx.connection.execute(BLANK_ORDERS, {"references": references})
    return len(references)


def sections(
    found: Sequence[Order],
    events: Mapping[str, Sequence[OrderEvent]],
    receipts_of: Mapping[str, Receipt | None],
) -> JsonObject:
    """Return the orders of the exported file. `events` and `receipts_of` are by reference."""
    return {"orders": [_order(each, events.get(each.reference, ()), receipts_of.get(each.reference)) for each in found]}


async def _read_all_orders(tx: Transaction, payer: Payer) -> tuple[Order, ...]:
    found: list[Order] = []
    while len(page := await OrderRepository(tx).of_payer(payer, limit=PAGE, offset=len(found))) == PAGE:
        found += page
    return (*found, *page)


def _order(order: Order, events: Sequence[OrderEvent], receipt: Receipt | None) -> JsonObject:
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
    stored=stored,
    has_any=has_any,
    blocks_deletion=blocks_deletion,
    export_user=export_user,
    delete_user=delete_user,
    prune=prune,
)
