"""Answer requests for payment pages, and for those where anyone can check a receipt: pages, status and pictures.

A code is all that a reader needs, as in the chat. An answer shows what the receipt shows, and every code without a
receipt gets the same answer.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.http.health import Health, create_health_app
from bot.infra.http.server import SecurityHeadersMiddleware
from bot.infra.i18n import Html, Translations, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.orders.destinations.model import DestinationsHealth, PayoutTimes
from bot.orders.order import Order, OrderStatus
from bot.orders.pay_page import rendering
from bot.orders.pay_page.lookup import (
    MAX_QR_CODES,
    MAX_RECEIPTS,
    PACE,
    BatchedReads,
    KeptPictures,
    Lookup,
    Pace,
    TooMany,
)
from bot.orders.pay_page.payer import (
    COOKIE,
    PayerAnswers,
    PayersOfPages,
    is_payer,
    read_form,
    set_cookie,
)
from bot.orders.pay_page.rendering import (
    CODE_PARAMETER,
    PARAMETER,
    Files,
    Site,
    StatusText,
    describe_status,
    is_of_page,
    language_of,
    shown_status,
)
from bot.orders.receipts.codes import VERIFY_PATH, SentOrder, compact_code, read_code, receipt_url
from bot.orders.receipts.service import UnreadableReceipt, find_by_codes, find_sent_orders, render_receipt_off_loop
from bot.orders.screens.order_messages import explain_failure
from bot.orders.screens.payment import PATH, TOKEN, PaymentDetails, get_payment_details
from bot.payments import qr
from bot.payments.errors import DepositCheckError, UnrenderableQr
from bot.settlement.errors import MethodVanished, SettlementFailure
from bot.users.model import UNNAMED, Provider

CODES_PACE = Pace(batch=20, pause_seconds=0.2, max_waiting=500)
"""Up to 100 codes a second, so that guessing is slow. It is a limit for everyone together: behind a proxy, all requests
come from one address. During an attack, a genuine code waits some seconds. It is chosen at random like the guesses, so
no number of guesses at once shuts it out."""


class ReceiptLookup:
    """Find completed orders with their receipts. Nothing is kept in memory, because they have recipients."""

    def __init__(self, database: Database, codes_pace: Pace = CODES_PACE) -> None:
        self._database = database
        self._orders = BatchedReads(self._read_orders, PACE)
        self._codes = BatchedReads(self._read_codes, codes_pace)

    async def find_by_order(self, reference: str) -> SentOrder | None:
        """Return a completed order with its receipt, or None if it has none. Raises as `BatchedReads.find` does."""
        return await self._orders.find(reference)

    async def find_by_code(self, code: str) -> SentOrder | None:
        """Return the order whose receipt has this code, or None if no receipt has it.

        Raises:
            UnreadableReceipt: there is a receipt, but this process can't read its order.
            StoreDown: the database does not answer.
            TooMany: too many codes are waiting.
        """
        found = await self._codes.find(code)
        if isinstance(found, UnreadableReceipt):
            raise UnreadableReceipt
        return found

    async def _read_orders(self, references: Collection[str]) -> Mapping[str, SentOrder]:
        async with self._database.reading() as tx:
            return await find_sent_orders(tx, references)

    async def _read_codes(self, codes: Collection[str]) -> Mapping[str, SentOrder | UnreadableReceipt]:
        async with self._database.reading() as tx:
            return await find_by_codes(tx, codes)


PNG = "image/png"


class NoSuchReceipt(Exception):
    """No receipt has this code, or the text is no code."""


class VerificationHandlers:
    """The endpoints where receipts are checked."""

    def __init__(
        self, *, lookup: ReceiptLookup, translations: Translations, site: Site, qr_codes: KeptPictures[str]
    ) -> None:
        self._lookup = lookup
        self._translations = translations
        self._site = site
        self._qr_codes = qr_codes
        self._pictures = KeptPictures(render_receipt_off_loop, MAX_RECEIPTS)

    async def redirect(self, _: Request) -> Response:
        """Lead an address that was typed without the last slash to the form. Relative, so no `Host` is trusted."""
        return RedirectResponse(VERIFY_PATH.lstrip("/"))

    async def form(self, request: Request) -> Response:
        """Answer with the form, or lead from an entered code to its page."""
        t, typed = self._translator(request), request.query_params.get(CODE_PARAMETER)
        if typed is None:
            return HTMLResponse(rendering.render_form(t, self._site))
        code = read_code(typed)
        if code is None:
            raise NoSuchReceipt
        return RedirectResponse(f"{compact_code(code)}?{PARAMETER}={t.locale}", status_code=303)

    async def page(self, request: Request) -> Response:
        """Answer with the receipt."""
        sent = await self._find(request)
        return HTMLResponse(rendering.render_genuine(self._translator(request), sent, self._site))

    async def qr(self, request: Request) -> Response:
        """Answer with the QR code of the page's address."""
        sent = await self._find(request)
        url = receipt_url(self._site.public_url, compact_code(sent.code))
        return Response(await self._qr_codes.get_png(url), media_type=PNG)

    async def picture(self, request: Request) -> Response:
        """Answer with the receipt as a picture, as the sender gets it in the chat."""
        sent = await self._find(request)
        if not sent.order.has_recipient:
            raise NoSuchReceipt
        facts = rendering.build_facts(self._translator(request), sent, self._site)
        return Response(await self._pictures.get_png(facts), media_type=PNG)

    async def unknown(self, request: Request, _error: Exception) -> Response:
        """Answer 404 with the form, and the code in it. The rest is the same for every code without a receipt."""
        typed = request.query_params.get(CODE_PARAMETER) or request.path_params.get("code", "")
        page = rendering.render_form(self._translator(request), self._site, unknown=read_code(typed) or typed)
        return HTMLResponse(page, status_code=404)

    async def _find(self, request: Request) -> SentOrder:
        code = read_code(request.path_params["code"])
        sent = await self._lookup.find_by_code(code) if code else None
        if sent is None:
            raise NoSuchReceipt
        return sent

    def _translator(self, request: Request) -> Translator:
        return self._translations.get(language_of(request))


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
        payers: PayersOfPages | None,
    ) -> None:
        self._lookup = Lookup(database)
        self._payers = None if payers is None else PayerAnswers(database, payers)
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
        return await self._show(request, await self._find_order(request, self._lookup.find))

    async def answer(self, request: Request) -> Response:
        """Do what the payer of an order without a chat has asked for, and lead back to the page."""
        order = await self._find_order(request, self._lookup.find)
        if self._payers is None or not is_of_page(order):
            raise NoSuchPage
        form = await read_form(request)
        proof = form.get("preimage", "").strip() or request.cookies.get(COOKIE, "")
        if not is_payer(order, proof):
            t = self._translations.get(language_of(request))
            return await self._show(request, order, t("orders.pay_page.payer.unproven"))
        try:
            following = await self._payers.take(order, form) or order
        except (Rejection, MethodVanished, SettlementFailure) as failure:
            reader = Reader(self._translations.get(language_of(request)), PRESUMED, self._clock.now())
            return await self._show(request, order, explain_failure(reader, order, failure))
        token = following.page_token or ""
        answer = RedirectResponse(f"{token}?{PARAMETER}={language_of(request)}", status_code=303)
        set_cookie(answer, self._site.public_url, f"{PATH}{token}", proof)
        return answer

    async def _show(self, request: Request, order: Order, said: Html | None = None) -> Response:
        locale, now = language_of(request), self._clock.now()
        status, details = _get_status(order, now)
        sent = await self._receipts.find_by_order(order.reference) if status is OrderStatus.SENT else None
        if sent is not None:
            return HTMLResponse(rendering.render_receipt(self._translations.get(locale), sent, self._site))
        times = await self._times() if details is not None else None
        health = await self._destinations() if details is not None else None
        destination = health.of(order.method) if health is not None else None
        t, of_payer = self._translations.get(locale), None
        if self._payers is not None and is_of_page(order):
            is_known = is_payer(order, request.cookies.get(COOKIE))
            of_payer = await self._payers.describe(t, order, status, now, is_known=is_known, said=said)
        text = self._status_text(locale, status, is_of_page(order))
        shown = rendering.ShownPayment(order, text, details, now, times, destination, of_payer)
        return HTMLResponse(rendering.render_payment(t, shown, self._site))

    async def state(self, request: Request) -> Response:
        """Answer with the texts of the status as JSON, or with 304 if the page already has them."""
        order = await self._find_order(request, self._lookup.find_recent)
        now = self._clock.now()
        text = self._status_text(language_of(request), _get_status(order, now)[0], is_of_page(order))
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

    def _describe(self, locale: str, status: OrderStatus, of_page: bool) -> StatusText:  # noqa: FBT001  cached
        return describe_status(self._translations.get(locale), status, of_page=of_page)


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


async def _none() -> None:
    return None


def create_app(
    *,
    database: Database,
    clock: Clock,
    translations: Translations,
    public_url: str,
    health: Health,
    on_viewed: Callable[[str], None] = lambda _: None,
    provider: Provider = UNNAMED,
    bot: str = "",
    times: Times = _none,
    destinations: Destinations = _none,
    payers: PayersOfPages | None = None,
    more_routes: Sequence[BaseRoute] = (),
) -> ASGIApp:
    """Build the application. Without `public_url` it has only the pages of health.

    Args:
        database: the database, which is only read.
        clock: the clock by which invoices expire.
        translations: the texts of the pages.
        public_url: where users reach this server. Other addresses in answers are relative, so no `Host` is trusted.
        health: answers the pages by which others watch the bot.
        on_viewed: called with an order's reference at each request of its page.
        provider: who runs the bot, for the footer of each page.
        bot: the bot's name without its @, for the links to its chat. Empty for no links.
        times: returns how long payouts take, if that is known.
        destinations: returns how each destination is doing, if that is known.
        payers: what the pages of payers without a chat need.
        more_routes: other routes of the public server.
    """
    if not public_url:
        return create_health_app(health)
    site = Site(Files(), provider, public_url, bot)
    receipts = ReceiptLookup(database)
    qr_codes = KeptPictures(qr.render_png_off_loop, MAX_QR_CODES)
    pages = PageHandlers(
        database=database,
        receipts=receipts,
        clock=clock,
        translations=translations,
        site=site,
        qr_codes=qr_codes,
        times=times,
        destinations=destinations,
        on_viewed=on_viewed,
        payers=payers,
    )
    checks = VerificationHandlers(lookup=receipts, translations=translations, site=site, qr_codes=qr_codes)
    app = Starlette(
        routes=[*health.routes(), *more_routes, *_routes(pages, checks, site.files)],
        exception_handlers={
            NoSuchPage: pages.missing,
            NoSuchReceipt: checks.unknown,
            404: pages.missing,
            405: pages.missing,
            **dict.fromkeys(FAILURES, pages.unavailable),
        },
    )
    # A redirect would contain the Host header, which isn't trusted.
    app.router.redirect_slashes = False
    return SecurityHeadersMiddleware(app, encrypted=public_url.startswith("https:"))


def _routes(pages: PageHandlers, checks: VerificationHandlers, files: Files) -> list[BaseRoute]:
    page, receipt = f"{PATH}{{token}}", f"{VERIFY_PATH}{{code}}"
    return [
        Route(page, pages.page, methods=["GET"]),
        Route(page, pages.answer, methods=["POST"]),
        Route(f"{page}/state", pages.state, methods=["GET"]),
        Route(f"{page}/qr.png", pages.qr, methods=["GET"]),
        Route(VERIFY_PATH.rstrip("/"), checks.redirect, methods=["GET"]),
        Route(VERIFY_PATH, checks.form, methods=["GET"]),
        Route(receipt, checks.page, methods=["GET"]),
        Route(f"{receipt}/qr.png", checks.qr, methods=["GET"]),
        Route(f"{receipt}/receipt.png", checks.picture, methods=["GET"]),
        Route("/static/{name}", files.answer, methods=["GET"]),
    ]
