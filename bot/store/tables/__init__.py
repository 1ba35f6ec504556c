"""The tables, and the promises that the database itself keeps however many processes write to it."""

from bot.store.tables.alarms import IS_RAISED, alarms
from bot.store.tables.broadcasts import IS_CLAIMED_DELIVERY, IS_DRAFT, IS_TO_SEND, IS_UNDER_WAY, broadcasts, deliveries
from bot.store.tables.drafts import IS_CLOSED_DRAFT, IS_OPEN_DRAFT, drafts, is_open
from bot.store.tables.keys import sealing_keys
from bot.store.tables.metadata import metadata
from bot.store.tables.orders import (
    HAS_PAGE,
    HAS_RECIPIENT,
    IS_CLAIMED,
    IS_LOOKED_AFTER,
    IS_UNCLAIMED,
    MAY_BE_STUCK,
    MAY_EXPIRE,
    order_events,
    orders,
    receipts,
)
from bot.store.tables.outbox import IS_FAREWELL, IS_GIVEN_UP, IS_TOLD, IS_WAITING, outbox, to_tell
from bot.store.tables.people import (
    HAS_USERNAME,
    IS_AWAY,
    IS_FINISHED,
    IS_LEAVING,
    IS_UNFINISHED,
    inbox,
    missed_orders,
    people,
    recipients,
)
from bot.store.tables.quotes import HAS_DAILY, quotes, rate_alerts, subscriptions
from bot.store.tables.support import IS_REVEALED, audit, person_acts, reveals, saved_answers
from bot.store.tables.tickets import (
    IS_OPEN_TICKET,
    IS_WAITING_TICKET,
    moved_chats,
    ticket_entries,
    ticket_posts,
    tickets,
)

__all__ = [
    "HAS_DAILY",
    "HAS_PAGE",
    "HAS_RECIPIENT",
    "HAS_USERNAME",
    "IS_AWAY",
    "IS_CLAIMED",
    "IS_CLAIMED_DELIVERY",
    "IS_CLOSED_DRAFT",
    "IS_DRAFT",
    "IS_FAREWELL",
    "IS_FINISHED",
    "IS_GIVEN_UP",
    "IS_LEAVING",
    "IS_LOOKED_AFTER",
    "IS_OPEN_DRAFT",
    "IS_OPEN_TICKET",
    "IS_RAISED",
    "IS_REVEALED",
    "IS_TOLD",
    "IS_TO_SEND",
    "IS_UNCLAIMED",
    "IS_UNDER_WAY",
    "IS_UNFINISHED",
    "IS_WAITING",
    "IS_WAITING_TICKET",
    "MAY_BE_STUCK",
    "MAY_EXPIRE",
    "alarms",
    "audit",
    "broadcasts",
    "deliveries",
    "drafts",
    "inbox",
    "is_open",
    "metadata",
    "missed_orders",
    "moved_chats",
    "order_events",
    "orders",
    "outbox",
    "people",
    "person_acts",
    "quotes",
    "rate_alerts",
    "receipts",
    "recipients",
    "reveals",
    "saved_answers",
    "sealing_keys",
    "subscriptions",
    "ticket_entries",
    "ticket_posts",
    "tickets",
    "to_tell",
]
