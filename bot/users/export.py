"""A person's data as a file that other programs can read: JSON, in words that explain themselves.

Money is whole units of the currency named beside it, rates are decimal text, times are UTC in ISO 8601.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from bot.checkout.draft import OrderDraft
from bot.orders.missed_orders import MissedOrder
from bot.orders.order import Order, OrderEvent
from bot.orders.receipts.model import Receipt
from bot.rates.model import RateAlert, Subscription
from bot.recipients.model import SavedRecipient
from bot.settlement.model import PayoutMethod
from bot.support.model import EntryKind, TicketEntry
from bot.support.ticket import Ticket
from bot.users.model import Person
from bot.users.privacy import UserData

Json = dict[str, object]


def as_file(held: UserData, made_at: datetime) -> bytes:
    """All of `held`, as UTF-8."""
    content = {
        "about": "What Kirim keeps of you",
        "made_at": _time(made_at),
        "profile": _profile(held.person),
        "recipients": [_recipient(each) for each in held.recipients],
        "orders": [_order(each, held.events, held.receipts) for each in held.orders],
        "missed_messages": [_missed(each) for each in held.missed],
        "drafts": [_draft(each) for each in held.drafts],
        "rate_news": _rate_news(held.subscription),
        "rate_alerts": [_rate_alert(each) for each in held.alerts],
        "tickets": [_ticket(each, held.entries) for each in held.tickets],
    }
    # Half a surrogate pair has no UTF-8; written out like this it is JSON's own spelling of it.
    return json.dumps(content, ensure_ascii=False, indent=2).encode(errors="backslashreplace")


def _profile(person: Person) -> Json:
    return {
        "telegram_id": person.id,
        "username": person.username,
        "known_since": _time(person.created_at),
        "last_seen_at": _time(person.seen_at),
        "language_of_app": person.language_code,
        "language_chosen": person.locale,
        "time_zone": person.time_zone or None,
        "phrase": person.phrase,
        "notices": dict(person.notices) if person.notices else None,
        "blocked_the_bot_at": _time(person.blocked_at),
        "asked_to_be_deleted_at": _time(person.delete_asked_at),
    }


def _recipient(recipient: SavedRecipient) -> Json:
    return {
        "name_given": recipient.label,
        "destination": _method(recipient.method),
        "number": recipient.number,
        "holder": recipient.holder,
        "first_used_at": _time(recipient.created_at),
        "last_used_at": _time(recipient.used_at),
    }


def _order(order: Order, events: Mapping[str, tuple[OrderEvent, ...]], receipts: Mapping[str, Receipt]) -> Json:
    receipt = receipts.get(order.reference)
    return {
        "reference": order.reference,
        "reference_at_the_service": order.service_id,
        "destination": _method(order.method),
        "number": order.number or None,
        "holder": order.holder,
        "asked_for": {"amount": order.given.value, "currency": order.given.currency},
        "idr": order.idr if order.idr is not None else order.expected_idr,
        "sats": order.sats if order.sats is not None else order.expected_sats,
        "idr_per_btc": None if order.btc_idr is None else str(order.btc_idr),
        "paid_by": order.channel,
        "phase": str(order.phase),
        "state": order.state or None,
        "invoice": order.bolt11,
        "deposit_address": order.deposit.to_address if order.deposit else None,
        "refusal": order.refusal,
        "created_at": _time(order.created_at),
        "expires_at": _time(order.expires_at),
        "paid_at": _time(order.paid_at),
        "ended_at": _time(order.ended_at),
        "receipt_code": (receipt.code or None) if receipt else None,
        "timeline": [_event(each) for each in events.get(order.reference, ())],
    }


def _event(event: OrderEvent) -> Json:
    return {
        "at": _time(event.at),
        "phase": str(event.phase),
        "state": event.state or None,
        "note": str(event.note) or None,
    }


def _missed(missed: MissedOrder) -> Json:
    return {"about_order": missed.reference, "refused_by_telegram_at": _time(missed.at)}


def _draft(draft: OrderDraft) -> Json:
    return {
        "status": str(draft.status),
        "destination": _method(draft.method) if draft.method else None,
        "number": draft.number,
        "number_in_doubt": draft.doubtful_number,
        "holder": draft.holder,
        "amount": {"amount": draft.amount.value, "currency": draft.amount.currency} if draft.amount else None,
        "paid_by": draft.channel,
        "put_away_at": _time(draft.expires_at),
    }


def _rate_news(subscription: Subscription | None) -> Json | None:
    if subscription is None:
        return None
    return {
        "subscribed_since": _time(subscription.since),
        "daily_quote_at": _of_day(subscription.daily_minute),
        "next_daily_quote_at": _time(subscription.next_daily_at),
        "quiet_from": _of_day(subscription.quiet_from),
        "quiet_until": _of_day(subscription.quiet_until),
    }


def _rate_alert(alert: RateAlert) -> Json:
    return {
        "rings": "above" if alert.is_above else "below",
        "idr_per_btc": str(alert.threshold),
        "again_after_seconds": alert.cool_down,
        "rests_until": _time(alert.rests_until),
        "set_at": _time(alert.created_at),
        "expires_at": _time(alert.expires_at),
    }


def _ticket(ticket: Ticket, entries: Mapping[str, tuple[TicketEntry, ...]]) -> Json:
    return {
        "reference": ticket.reference,
        "about_order": ticket.order_reference or None,
        "opened_because": str(ticket.cause),
        "status": str(ticket.status),
        "opened_at": _time(ticket.created_at),
        "first_answer_at": _time(ticket.first_answer_at),
        "closed_at": _time(ticket.closed_at),
        "closed_because": str(ticket.close_reason) if ticket.close_reason else None,
        "times_reopened": ticket.reopened,
        "rating": str(ticket.rating) if ticket.rating else None,
        "messages": [_entry(each) for each in entries.get(ticket.reference, ())],
    }


def _entry(entry: TicketEntry) -> Json:
    return {
        "from": "you" if entry.kind is EntryKind.ASKED else "support",
        "at": _time(entry.at),
        "html": None if entry.withdrawn_at else entry.text,
        "attached": str(entry.media) if entry.media else None,
        "delivered_at": _time(entry.delivered_at),
        "edited_at": _time(entry.edited_at),
        "taken_back_at": _time(entry.withdrawn_at),
    }


def _method(method: PayoutMethod) -> Json:
    return {"code": method.code, "name": method.name, "kind": method.kind}


def _of_day(minute: int | None) -> str | None:
    """A minute of the person's own day: "07:30"."""
    return None if minute is None else f"{minute // 60:02}:{minute % 60:02}"


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
