"""The metrics of requests to the settlement service."""

from http import HTTPStatus
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from bot.infra.metrics import start_at_zero
from bot.settlement.client.errors import Answered, NeverReached, SettlementError

ROUTES: Final = ("quote", "payout_methods", "deposit_rails", "stats", "create_order", "order", "orders")

REQUESTS: Final = Counter(
    "kirim_settlement_requests",
    "Requests to the settlement service. `unsent` never left this machine, and `unanswered` may have arrived.",
    ["route", "result"],
)
start_at_zero(REQUESTS, ROUTES, ("2xx", "4xx", "429", "5xx", "unanswered", "unsent"))
REQUEST_SECONDS: Final = Histogram(
    "kirim_settlement_seconds",
    "How long a request took, also if it failed.",
    ["route"],
    buckets=(0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30),
)
start_at_zero(REQUEST_SECONDS, ROUTES)
BUDGET: Final = Gauge(
    "kirim_settlement_budget_per_second", "How many requests a second the bot sends at most now. It adapts to 429s."
)


def record_request(route: str, error: SettlementError | None, seconds: float) -> None:
    """Count one request to the service: its route, how it failed if it did, and how long it took."""
    REQUESTS.labels(route, _describe(error)).inc()
    REQUEST_SECONDS.labels(route).observe(seconds)


def _describe(error: SettlementError | None) -> str:
    match error:
        case None:
            return "2xx"
        case Answered(status=HTTPStatus.TOO_MANY_REQUESTS):
            return "429"
        case Answered(status=status) if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return "5xx"
        case Answered():
            return "4xx"
        case NeverReached():
            return "unsent"
        case _:
            return "unanswered"
