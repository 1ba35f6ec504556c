"""What is answered at a page's address: the page, its state for the script, and its QR code."""

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
from bot.orders.order import Order, OrderStatus
from bot.orders.pay_page import html
from bot.orders.pay_page.language import language_of
from bot.orders.pay_page.lookup import Lookup, TooMany
from bot.orders.pay_page.pictures import Pictures
from bot.orders.pay_page.states import Telling, shown_status, telling
from bot.orders.pay_page.url import TOKEN
from bot.orders.payable import Payable, payable
from bot.orders.payout_times import PayoutTimes
from bot.payments.errors import DepositCheckError, UnrenderableQr

log = structlog.get_logger(__name__)

Find = Callable[[str], Awaitable[Order | None]]
Times = Callable[[], Awaitable[PayoutTimes | None]]

NOW_HEADER = "x-now"
"""The time by our clock in milliseconds: a phone's own may be minutes off."""

RETRY_SECONDS = "5"
SILENT_SECONDS = 30.0
"""Hundreds of pages may meet the same trouble every second; the log hears of it once in a while."""


class NoSuchPage(Exception):
    """Nothing is known by this address; whether anything ever was, isn't told."""


class Pages:
    """The endpoints of pages."""

    def __init__(
        self,
        *,
        store: Database,
        clock: Clock,
        translations: Translations,
        default_locale: str,
        site: html.Site,
        times: Times,
        on_viewed: Callable[[str], None],
    ) -> None:
        self._lookup = Lookup(store)
        self._pictures = Pictures()
        self._clock = clock
        self._translations = translations
        self._default_locale = default_locale
        self._site = site
        self._times = times
        self._on_viewed = on_viewed
        self._silent_until = 0.0
        # There are as many as states in each language, and no order is in them.
        self._telling = cache(self._tell)

    async def page(self, request: Request) -> Response:
        """The page itself."""
        order = await self._order(request, self._lookup.find)
        locale, now = language_of(request, self._default_locale), self._clock.now()
        state, offered = _status_of(order, now)
        times = await self._times() if offered is not None else None
        shown = html.Shown(order, self._telling(locale, state), offered, now, times)
        return HTMLResponse(html.payment(self._translations.get(locale), shown, self._site))

    async def state(self, request: Request) -> Response:
        """The state's words as JSON, or 304 where the page has them already."""
        order = await self._order(request, self._lookup.glance)
        now = self._clock.now()
        told = self._telling(language_of(request, self._default_locale), _status_of(order, now)[0])
        headers = {"etag": told.etag, NOW_HEADER: str(int(now.timestamp() * 1000))}
        if request.headers.get("if-none-match") == told.etag:
            return Response(status_code=304, headers=headers)
        return Response(told.body, media_type="application/json", headers=headers)

    async def qr(self, request: Request) -> Response:
        """The QR code; 410 as soon as nothing is to be paid with it any more."""
        order = await self._order(request, self._lookup.find)
        _, offered = _status_of(order, self._clock.now())
        if offered is None:
            return Response(status_code=410)
        return Response(await self._pictures.png(offered.qr), media_type="image/png")

    async def missing(self, request: Request, _error: Exception) -> Response:
        """404: the same for what never was, for what is no token at all, and for every other address."""
        return self._notice(request, "unknown", 404)

    async def troubled(self, request: Request, error: Exception) -> Response:
        """503: the database is away, or too many ask at once."""
        if time.monotonic() >= self._silent_until:
            log.warning("wallet_pages_unavailable", error=type(error).__name__)
            self._silent_until = time.monotonic() + SILENT_SECONDS
        answer = self._notice(request, "trouble", 503)
        answer.headers["retry-after"] = RETRY_SECONDS
        return answer

    async def _order(self, request: Request, find: Find) -> Order:
        token = request.path_params["token"]
        order = await find(token) if TOKEN.fullmatch(token) else None
        if order is None:
            raise NoSuchPage
        self._on_viewed(order.reference)
        return order

    def _notice(self, request: Request, what: str, status: int) -> Response:
        t = self._translations.get(language_of(request, self._default_locale))
        heading, text = t.plain(f"page.{what}"), t.plain(f"page.{what}_text")
        return HTMLResponse(html.notice(t, self._site, heading, text), status_code=status)

    def _tell(self, locale: str, state: OrderStatus) -> Telling:
        return telling(self._translations.get(locale), state)


def _status_of(order: Order, now: datetime) -> tuple[OrderStatus, Payable | None]:
    """Return the status that the page shows, and how the order is paid, which is None unless it waits for that."""
    state = shown_status(order, now)
    if state is not OrderStatus.WAITING:
        return state, None
    try:
        return state, payable(order)
    except (ValueError, DepositCheckError) as error:
        # It was judged before it was opened; a row that was changed since isn't shown.
        log.error("wallet_page_invalid_order", order=order.reference, error=type(error).__name__)  # noqa: TRY400
        return OrderStatus.CLOSED, None


FAILURES = (StoreDown, TooMany, UnrenderableQr)
"""What `troubled` answers."""
