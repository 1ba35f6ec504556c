"""The web application: `/healthz`, and the payment pages if there is a public address for them."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.http.guard import SecurityHeadersMiddleware
from bot.infra.http.health import Health
from bot.infra.i18n import Translations
from bot.orders.pay_page.files import Files
from bot.orders.pay_page.handlers import FAILURES, NoSuchPage, PageHandlers, Times
from bot.orders.pay_page.rendering import Site
from bot.orders.pay_page.url import PATH
from bot.users.provider import UNNAMED, Provider


async def _none() -> None:
    return None


def create_app(
    *,
    store: Database,
    clock: Clock,
    translations: Translations,
    default_locale: str,
    public_url: str,
    works: Callable[[], bool],
    on_viewed: Callable[[str], None] = lambda _: None,
    provider: Provider = UNNAMED,
    times: Times = _none,
) -> ASGIApp:
    """Build the application. Without `public_url` it has only `/healthz`.

    Args:
        store: the database, which is only read.
        clock: the clock by which invoices expire.
        translations: the texts of the pages.
        default_locale: the language for browsers that prefer none of ours.
        public_url: where users reach this server. Addresses in answers are relative, so no `Host` is trusted.
        works: returns whether the bot's workers run.
        on_viewed: called with an order's reference at each request of its page.
        provider: who runs the bot, for the footer of each page.
        times: returns how long payouts take, if that is known.
    """
    health = Route("/healthz", Health(store, works).answer, methods=["GET"])
    if not public_url:
        app = Starlette(routes=[health], exception_handlers={404: _not_found, 405: _not_found})
        app.router.redirect_slashes = False
        return SecurityHeadersMiddleware(app, encrypted=False)
    files = Files()
    pages = PageHandlers(
        store=store,
        clock=clock,
        translations=translations,
        default_locale=default_locale,
        site=Site(files, provider),
        times=times,
        on_viewed=on_viewed,
    )
    app = Starlette(
        routes=[health, *_routes(pages, files)],
        exception_handlers={
            NoSuchPage: pages.missing,
            404: pages.missing,
            405: pages.missing,
            **dict.fromkeys(FAILURES, pages.unavailable),
        },
    )
    # A redirect would contain the Host header, which isn't trusted.
    app.router.redirect_slashes = False
    return SecurityHeadersMiddleware(app, encrypted=public_url.startswith("https:"))


def _routes(pages: PageHandlers, files: Files) -> list[BaseRoute]:
    page = f"{PATH}{{token}}"
    return [
        Route(page, pages.page, methods=["GET"]),
        Route(f"{page}/state", pages.state, methods=["GET"]),
        Route(f"{page}/qr.png", pages.qr, methods=["GET"]),
        Route("/static/{name}", files.answer, methods=["GET"]),
    ]


async def _not_found(_request: Request, _error: Exception) -> Response:
    return Response(status_code=404)
