"""What the use cases need of the world, by meaning: the settlement service, a store, the time, and a teller.

Others import from here; the modules inside may be divided otherwise one day.
"""

from bot.actions.ports.alarms import Alarm, AlarmKind, Alarms
from bot.actions.ports.broadcasts import (
    Audience,
    Broadcast,
    Broadcasts,
    BroadcastStatus,
    Deliveries,
    Delivery,
    DeliveryStatus,
)
from bot.actions.ports.figures import Figures, OrderLine
from bot.actions.ports.forgetting import Forgetting
from bot.actions.ports.orders import Orders
from bot.actions.ports.quotes import Quotes, RateAlert, Subscription, Subscriptions
from bot.actions.ports.records import EventNote, InboxItem, News, NewsStatus, OrderEvent, Person, Receipt, Recipient
from bot.actions.ports.settlement import (
    DepositRails,
    KeyRefused,
    Newest,
    NotMade,
    OrderNotFound,
    OutcomeUnknown,
    OutOfReach,
    Placed,
    PlatformStats,
    Rail,
    Refused,
    ServiceDown,
    Settlement,
    SettlementFailure,
    SlowDown,
    Wish,
)
from bot.actions.ports.store import (
    Drafts,
    Inbox,
    Outbox,
    People,
    Receipts,
    Recipients,
    Store,
    StoreDown,
    Transaction,
)
from bot.actions.ports.telling import Clock, Teller, TellLater, Told, Untellable

__all__ = [
    "Alarm",
    "AlarmKind",
    "Alarms",
    "Audience",
    "Broadcast",
    "BroadcastStatus",
    "Broadcasts",
    "Clock",
    "Deliveries",
    "Delivery",
    "DeliveryStatus",
    "DepositRails",
    "Drafts",
    "EventNote",
    "Figures",
    "Forgetting",
    "Inbox",
    "InboxItem",
    "KeyRefused",
    "Newest",
    "News",
    "NewsStatus",
    "NotMade",
    "OrderEvent",
    "OrderLine",
    "OrderNotFound",
    "Orders",
    "OutOfReach",
    "Outbox",
    "OutcomeUnknown",
    "People",
    "Person",
    "Placed",
    "PlatformStats",
    "Quotes",
    "Rail",
    "RateAlert",
    "Receipt",
    "Receipts",
    "Recipient",
    "Recipients",
    "Refused",
    "ServiceDown",
    "Settlement",
    "SettlementFailure",
    "SlowDown",
    "Store",
    "StoreDown",
    "Subscription",
    "Subscriptions",
    "TellLater",
    "Teller",
    "Told",
    "Transaction",
    "Untellable",
    "Wish",
]
