"""The typed client of the settlement service's /v1 API. It can be used without the bot."""

from bot.settlement.client.client import KeyHeader, SettlementClient, key_id_of
from bot.settlement.client.errors import (
    Answered,
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotFound,
    NotUnderstood,
    RateLimited,
    ServerError,
    SettlementError,
    TooLate,
    Unavailable,
    UnexpectedStatus,
    ValidationRejected,
    WaitTimeout,
)
from bot.settlement.client.http import Timeouts
from bot.settlement.client.retry import RetryPolicy
from bot.settlement.client.wait import wait_for_order
from bot.settlement.client.wire import (
    CreatedOrder,
    DepositInstructions,
    DepositRail,
    DepositRails,
    Order,
    OrderInput,
    OrderList,
    PayoutMethod,
    PayoutMethods,
    PlatformStats,
    Quote,
    is_terminal,
)
from bot.settlement.steps import TERMINAL_STATES

__all__ = [
    "TERMINAL_STATES",
    "Answered",
    "CreatedOrder",
    "DepositInstructions",
    "DepositRail",
    "DepositRails",
    "KeyHeader",
    "KeyRefused",
    "NeverReached",
    "NoAnswer",
    "NotFound",
    "NotUnderstood",
    "Order",
    "OrderInput",
    "OrderList",
    "PayoutMethod",
    "PayoutMethods",
    "PlatformStats",
    "Quote",
    "RateLimited",
    "RetryPolicy",
    "ServerError",
    "SettlementClient",
    "SettlementError",
    "Timeouts",
    "TooLate",
    "Unavailable",
    "UnexpectedStatus",
    "ValidationRejected",
    "WaitTimeout",
    "is_terminal",
    "key_id_of",
    "wait_for_order",
]
