"""The tables, and the promises that the database itself keeps however many processes write to it."""

from bot.store.tables.alarms import IS_RAISED, alarms
from bot.store.tables.broadcasts import IS_CLAIMED_DELIVERY, IS_TO_SEND, IS_UNDER_WAY, broadcasts, deliveries
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
from bot.store.tables.people import IS_AWAY, IS_FINISHED, IS_LEAVING, IS_UNFINISHED, inbox, people, recipients
from bot.store.tables.quotes import HAS_DAILY, quotes, rate_alerts, subscriptions

__all__ = [
    "HAS_DAILY",
    "HAS_PAGE",
    "HAS_RECIPIENT",
    "IS_AWAY",
    "IS_CLAIMED",
    "IS_CLAIMED_DELIVERY",
    "IS_CLOSED_DRAFT",
    "IS_FAREWELL",
    "IS_FINISHED",
    "IS_GIVEN_UP",
    "IS_LEAVING",
    "IS_LOOKED_AFTER",
    "IS_OPEN_DRAFT",
    "IS_RAISED",
    "IS_TOLD",
    "IS_TO_SEND",
    "IS_UNCLAIMED",
    "IS_UNDER_WAY",
    "IS_UNFINISHED",
    "IS_WAITING",
    "MAY_BE_STUCK",
    "MAY_EXPIRE",
    "alarms",
    "broadcasts",
    "deliveries",
    "drafts",
    "inbox",
    "is_open",
    "metadata",
    "order_events",
    "orders",
    "outbox",
    "people",
    "quotes",
    "rate_alerts",
    "receipts",
    "recipients",
    "sealing_keys",
    "subscriptions",
    "to_tell",
]
