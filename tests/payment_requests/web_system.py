"""The pages of requests and orders over HTTP, with orders on a real database and a scripted service."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import httpx

from bot.infra.http.health import Health
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.orders.order import Order
from bot.orders.pay_page.app import create_app
from bot.orders.pay_page.payer import PayersOfPages
from bot.orders.pay_page.rendering import Files, Site
from bot.orders.repository import OrderRepository
from bot.payment_requests.model import PAGE_PATH, PaymentRequestRules
from bot.payment_requests.paying.pages import RequestPages
from bot.payment_requests.paying.service import PayService
from bot.payment_requests.service import ReportService
from bot.users.model import UNNAMED
from tests.infra.keys import VAULT
from tests.orders.order_system import OrderSystem
from tests.payment_requests.builders import TOKEN
from tests.texts import TRANSLATIONS

PUBLIC_URL = "https://pay.example"
PAGE = f"{PAGE_PATH}{TOKEN}"


@dataclass
class Web:
    """The web server of a process. `proxy` is the only one whose word about addresses counts."""

    system: OrderSystem
    proxy: str = ""
    is_on: bool = True
    public_url: str = PUBLIC_URL
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    def __post_init__(self) -> None:
        system = self.system
        pages = RequestPages(
            PayService(system.infra, system.orders, is_on=self.is_on),
            ReportService(system.infra, PaymentRequestRules(operator_ids=system.orders.rules.operator_ids)),
            clock=system.clock,
            vault=VAULT,
            translations=TRANSLATIONS,
            site=Site(Files(), UNNAMED, self.public_url, "kirim_bot"),
            proxies=[ip_network(self.proxy)] if self.proxy else [],
        )
        self.app = create_app(
            database=system.store,
            clock=system.clock,
            translations=TRANSLATIONS,
            public_url=self.public_url,
            health=Health(system.store, ProcessState(are_workers_alive=lambda: True), LoopLag()),
            bot="kirim_bot",
            payers=PayersOfPages(orders=system.orders, find_origin=pages.find_origin, contact="@help"),
            more_routes=pages.routes(),
        )

    def browser(self, address: str = "198.51.100.7", *, keeps_cookies: bool = True) -> "Tab":
        """Return a new browser, behind the proxy if there is one."""
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, client=("10.0.0.1" if self.proxy else address, 1)),
            base_url=PUBLIC_URL,
            headers={"x-forwarded-for": f"203.0.113.9, {address}"} if self.proxy else {},
        )
        self.clients.append(client)
        return Tab(client, keeps_cookies=keeps_cookies)

    async def close(self) -> None:
        for each in self.clients:
            await each.aclose()


@dataclass
class Tab:
    """A browser with one page open."""

    client: httpx.AsyncClient
    keeps_cookies: bool = True
    page: httpx.Response = field(init=False)

    async def open(self, path: str = PAGE, **headers: str) -> httpx.Response:
        self._forget()
        self.page = await self.client.get(path, headers=headers)
        return self.page

    async def post(self, path: str = PAGE, **fields: str) -> httpx.Response:
        self._forget()
        return await self.client.post(path, data=fields)

    async def press(self, path: str = PAGE) -> httpx.Response:
        """Press *Pay here* on the open page."""
        return await self.post(path, id=form_id(self.page))

    async def pay(self, path: str = PAGE) -> httpx.Response:
        """Open the page of a request, and press *Pay here*."""
        await self.open(path)
        return await self.press(path)

    def _forget(self) -> None:
        if not self.keeps_cookies:
            self.client.cookies.clear()


def form_id(page: httpx.Response) -> str:
    (found,) = re.findall(r'name="id" value="([^"]*)"', page.text)
    return html.unescape(found)


def place_of(answer: httpx.Response) -> str:
    """Return the path of the order's page to which an answer leads."""
    assert answer.status_code == 303, answer.text
    path = httpx.URL(f"{PUBLIC_URL}{PAGE}").join(answer.headers["location"]).path
    assert re.fullmatch(r"/p/[\w-]{32}", path), path
    return path


async def orders_of(system: OrderSystem) -> Sequence[Order]:
    """Return every order, the newest first."""
    async with system.store.reading() as tx:
        return await OrderRepository(tx).of_user(0, limit=1000)


def reads(page: httpx.Response) -> str:
    """Return a page's text, without markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


def cookies_of(answer: httpx.Response) -> list[dict[str, Any]]:
    """Return each cookie that an answer sets: its value, and its attributes in lower case."""
    found = []
    for line in answer.headers.get_list("set-cookie"):
        value, *attributes = line.split("; ")
        pairs = (each.partition("=") for each in attributes)
        found.append({"value": value, **{name.lower(): text or True for name, _, text in pairs}})
    return found
