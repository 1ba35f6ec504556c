"""Answer requests for payment pages: the page, its status for the script, and its QR code."""

import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import cache

import structlog
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.i18n import Translations
from bot.orders.destinations.model import DestinationsHealth, PayoutTimes
from bot.orders.order import Order, OrderStatus
from bot.orders.page_url import TOKEN
from bot.orders.pay_page import receipt_rendering, rendering
from bot.orders.pay_page.batched_reads import TooMany
from bot.orders.pay_page.lookup import Lookup
from bot.orders.pay_page.pictures import KeptPictures
from bot.orders.pay_page.receipt_handlers import ReceiptLookup
from bot.orders.pay_page.rendering import language_of
from bot.orders.pay_page.status_text import StatusText, describe_status, shown_status
from bot.orders.payment_details import PaymentDetails, get_payment_details
from bot.orders.receipts.service import UnreadableReceipt
from bot.payments.errors import DepositCheckError, UnrenderableQr

log = structlog.get_logger(__name__)

Find = Callable[[str], Awaitable[Order | None]]
Times = Callable[[], Awaitable[PayoutTimes | None]]
Destinations = Callable[[], Awaitable[DestinationsHealth | None]]

NOW_HEADER = "x-now"
"""The header with our time in milliseconds. The clock of a phone may be minutes off."""

RETRY_SECONDS = "5"
LOG_INTERVAL_SECONDS = 30.0
"""Hundreds of pages may fail every second for the same reason, so failures are logged at intervals."""


class NoSuchPage(Exception):
    """There is no page at this address. The answer doesn't say whether there ever was one."""


class PageHandlers:
    """The endpoints of payment pages."""

    def __init__(
        self,
        *,
        database: Database,
        receipts: ReceiptLookup,
        clock: Clock,
        translations: Translations,
        site: rendering.Site,
        qr_codes: KeptPictures[str],
        times: Times,
        destinations: Destinations,
        on_viewed: Callable[[str], None],
    ) -> None:
        self._lookup = Lookup(database)
        self._receipts = receipts
        self._qr_codes = qr_codes
        self._clock = clock
        self._translations = translations
        self._site = site
        self._times = times
        self._destinations = destinations
        self._on_viewed = on_viewed
        self._log_from = 0.0
        # There is one for each status and language. They contain nothing about an order.
        self._status_text = cache(self._describe)

    async def page(self, request: Request) -> Response:
        """Answer with the page. If the rupiah were sent, it is the receipt."""
        order = await self._find_order(request, self._lookup.find)
        locale, now = language_of(request), self._clock.now()
        status, details = _get_status(order, now)
        sent = await self._receipts.find_by_order(order.reference) if status is OrderStatus.SENT else None
        if sent is not None:
            return HTMLResponse(receipt_rendering.render_receipt(self._translations.get(locale), sent, self._site))
        times = await self._times() if details is not None else None
        health = await self._destinations() if details is not None else None
        destination = health.of(order.method) if health is not None else None
        shown = rendering.ShownPayment(order, self._status_text(locale, status), details, now, times, destination)
        return HTMLResponse(rendering.render_payment(self._translations.get(locale), shown, self._site))

    async def state(self, request: Request) -> Response:
        """Answer with the texts of the status as JSON, or with 304 if the page already has them."""
        order = await self._find_order(request, self._lookup.find_recent)
        now = self._clock.now()
        text = self._status_text(language_of(request), _get_status(order, now)[0])
        headers = {"etag": text.etag, NOW_HEADER: str(int(now.timestamp() * 1000))}
        if request.headers.get("if-none-match") == text.etag:
            return Response(status_code=304, headers=headers)
        return Response(text.body, media_type="application/json", headers=headers)

    async def qr(self, request: Request) -> Response:
        """Answer with the QR code, or with 410 if the order can no longer be paid."""
        order = await self._find_order(request, self._lookup.find)
        _, details = _get_status(order, self._clock.now())
        if details is None:
            return Response(status_code=410)
        return Response(await self._qr_codes.get_png(details.qr), media_type="image/png")

    async def missing(self, request: Request, _error: Exception) -> Response:
        """Answer 404. The answer is the same for every address without a page."""
        return self._answer_notice(request, "unknown", 404)

    async def unavailable(self, request: Request, error: Exception) -> Response:
        """Answer 503: the database is down, or there are too many requests at once."""
        if time.monotonic() >= self._log_from:
            log.warning("wallet_pages_unavailable", error=type(error).__name__)
            self._log_from = time.monotonic() + LOG_INTERVAL_SECONDS
        answer = self._answer_notice(request, "trouble", 503)
        answer.headers["retry-after"] = RETRY_SECONDS
        return answer

    async def _find_order(self, request: Request, find: Find) -> Order:
        token = request.path_params["token"]
        order = await find(token) if TOKEN.fullmatch(token) else None
        if order is None:
            raise NoSuchPage
        self._on_viewed(order.reference)
        return order

    def _answer_notice(self, request: Request, key: str, status: int) -> Response:
        t = self._translations.get(language_of(request))
        heading, text = t.plain(f"orders.pay_page.{key}"), t.plain(f"orders.pay_page.{key}_text")
        return HTMLResponse(rendering.render_notice(t, self._site, heading, text), status_code=status)

    def _describe(self, locale: str, status: OrderStatus) -> StatusText:
        return describe_status(self._translations.get(locale), status)


def _get_status(order: Order, now: datetime) -> tuple[OrderStatus, PaymentDetails | None]:
    """Return the status that the page shows, and how the order is paid. That is None unless it can be paid."""
    status = shown_status(order, now)
    if status is not OrderStatus.WAITING:
        return status, None
    try:
        return status, get_payment_details(order)
    except (ValueError, DepositCheckError) as error:
        # It was checked before it was first shown. A row that was changed since then isn't shown.
        log.error("wallet_page_invalid_order", order=order.reference, error=type(error).__name__)  # noqa: TRY400
        return OrderStatus.CLOSED, None


FAILURES = (StoreDown, TooMany, UnreadableReceipt, UnrenderableQr)
"""The errors that `unavailable` answers."""
