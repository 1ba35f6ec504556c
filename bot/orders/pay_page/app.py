"""The web application: the pages of health, and those of payments and receipts if there is a public address."""

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.http.guard import SecurityHeadersMiddleware
from bot.infra.http.health import Health, create_health_app
from bot.infra.i18n import Translations
from bot.orders.page_url import PATH, VERIFY_PATH
from bot.orders.pay_page.files import Files
from bot.orders.pay_page.handlers import FAILURES, Destinations, NoSuchPage, PageHandlers, Times
from bot.orders.pay_page.pictures import MAX_QR_CODES, KeptPictures
from bot.orders.pay_page.receipt_handlers import NoSuchReceipt, ReceiptLookup, VerificationHandlers
from bot.orders.pay_page.rendering import Site
from bot.payments import qr
from bot.users.provider import UNNAMED, Provider


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
        Route(f"{page}/state", pages.state, methods=["GET"]),
        Route(f"{page}/qr.png", pages.qr, methods=["GET"]),
        Route(VERIFY_PATH.rstrip("/"), checks.redirect, methods=["GET"]),
        Route(VERIFY_PATH, checks.form, methods=["GET"]),
        Route(receipt, checks.page, methods=["GET"]),
        Route(f"{receipt}/qr.png", checks.qr, methods=["GET"]),
        Route(f"{receipt}/receipt.png", checks.picture, methods=["GET"]),
        Route("/static/{name}", files.answer, methods=["GET"]),
    ]
