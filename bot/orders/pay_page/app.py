"""The web application: `/healthz`, and the wallet pages where there is a public address for them."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.http.guard import Guard
from bot.infra.http.health import Health
from bot.infra.i18n import Translations
from bot.orders.pay_page.files import Files
from bot.orders.pay_page.html import Site
from bot.orders.pay_page.pages import FAILURES, NoSuchPage, Pages, Times
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
    """Build it. Nothing is offered but `/healthz` where `public_url` is empty.

    Args:
        store: read only.
        clock: tells what has expired.
        translations: of the pages.
        default_locale: for browsers that prefer neither of ours.
        public_url: where people reach this server; addresses in answers are relative, so no `Host` is trusted.
        works: whether the bot's workers live.
        on_viewed: is called with the reference of an order whenever its page asks for something.
        provider: who runs the bot, for the foot of each page.
        times: tells how long transfers take, where that is known.
    """
    health = Route("/healthz", Health(store, works).answer, methods=["GET"])
    if not public_url:
        app = Starlette(routes=[health], exception_handlers={404: _nothing, 405: _nothing})
        app.router.redirect_slashes = False
        return Guard(app, encrypted=False)
    files = Files()
    pages = Pages(
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
            **dict.fromkeys(FAILURES, pages.troubled),
        },
    )
    # A redirect would be built from the Host header.
    app.router.redirect_slashes = False
    return Guard(app, encrypted=public_url.startswith("https:"))


def _routes(pages: Pages, files: Files) -> list[BaseRoute]:
    page = f"{PATH}{{token}}"
    return [
        Route(page, pages.page, methods=["GET"]),
        Route(f"{page}/state", pages.state, methods=["GET"]),
        Route(f"{page}/qr.png", pages.qr, methods=["GET"]),
        Route("/static/{name}", files.answer, methods=["GET"]),
    ]


async def _nothing(_request: Request, _error: Exception) -> Response:
    return Response(status_code=404)
