"""Payment pages over HTTP, with a real database: the answers at every address, and what they never contain."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NoReturn

import httpx
import pytest
from structlog.testing import capture_logs

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.db.transaction import Transaction
from bot.infra.http.health import Health
from bot.infra.http.server import CONTENT_SECURITY_POLICY
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.orders.order import Order, Phase
from bot.orders.pay_page.app import create_app
from bot.orders.pay_page.lookup import PACE, Lookup, TooMany
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep
from tests.infra.keys import VAULT
from tests.orders.builders import INVOICE, a_deposit_order, an_open_order
from tests.pictures import qr_texts
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS, label

TOKEN = "abcdefghijklmnopqrstuvwxyz_-0123"
OTHER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123"
PAGE, STATE, QR = f"/p/{TOKEN}", f"/p/{TOKEN}/state", f"/p/{TOKEN}/qr.png"
PAYING = (INVOICE, INVOICE.upper(), "lightning:", "LIGHTNING:")
NOWHERE = (
    f"/p/{OTHER}",
    f"/p/{OTHER}/state",
    f"/p/{OTHER}/qr.png",
    f"/p/{TOKEN}/other",
    f"/p/{TOKEN}/",
    f"/p/{TOKEN}x",
    "/p/short",
    "/p/" + "%00" * 32,
    "/p/..%2f..%2fetc",
    "/p/",
    "/",
    "/static/none.css",
    "/static/..%2fapp.py",
    "/robots.txt",
)
Change = Callable[..., Awaitable[None]]


class CountingStore(Database):
    """A database that counts the queries of pages, and can fail. Tests write through `inner`."""

    def __init__(self, url: str) -> None:
        super().__init__(url, VAULT)
        self.inner = Database(url, VAULT)
        self.reads, self.under_way, self.most_at_once, self.down = 0, 0, 0, False

    def transaction(self) -> NoReturn:
        raise AssertionError("pages change nothing")

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Transaction]:
        if self.down:
            raise StoreDown
        self.reads += 1
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            async with super().reading() as tx:
                yield tx
        finally:
            self.under_way -= 1


@pytest.fixture
async def store(file: str) -> AsyncIterator[CountingStore]:
    store = CountingStore(file)
    yield store
    await store.close()
    await store.inner.close()


def client(
    store: CountingStore,
    clock: MovedClock,
    public_url: str = "https://pay.example",
    *,
    works: bool = True,
    **changes: Any,
) -> Any:
    known: dict[str, Any] = {
        "database": store,
        "clock": clock,
        "translations": TRANSLATIONS,
        "public_url": public_url,
        "health": Health(store, ProcessState(are_workers_alive=lambda: works), LoopLag()),
    }
    app = create_app(**{**known, **changes})
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://evil.example")


@pytest.fixture
async def browser(store: CountingStore, clock: MovedClock) -> AsyncIterator[httpx.AsyncClient]:
    async with client(store, clock) as made:
        yield made


@pytest.fixture
async def change_order(store: CountingStore) -> Change:
    """Save an order that waits for its payment, and return a function that changes it for the pages."""
    async with store.inner.transaction() as tx:
        assert await OrderRepository(tx).add(an_open_order(page_token=TOKEN))

    async def change(**changes: Any) -> None:
        async with store.inner.transaction() as tx:
            order = await OrderRepository(tx).get("ABC2345")
            assert order is not None
            assert await OrderRepository(tx).save(replace(order, **changes)) is not None

    return change


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.orders.pay_page.lookup.FRESH_SECONDS", 0)


def heading(answer: httpx.Response) -> str:
    """Return the heading of a page."""
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", answer.text)
    return html.unescape(found)


@pytest.mark.usefixtures("change_order")
async def test_a_page_shows_its_payment_in_the_language_asked_for(browser: httpx.AsyncClient) -> None:
    english, indonesian = await browser.get(PAGE), await browser.get(f"{PAGE}?l=id")
    assert english.status_code == indonesian.status_code == 200
    assert english.headers["content-type"] == "text/html; charset=utf-8"
    assert heading(english) == label("orders.pay_page.waiting")
    assert heading(indonesian) == label("orders.pay_page.waiting", "id")
    assert INVOICE in english.text
    by_browser = await browser.get(PAGE, headers={"accept-language": "fr;q=0.9, id-ID;q=0.8, en;q=0.7"})
    assert heading(by_browser) == label("orders.pay_page.waiting", "id")
    unknown = await browser.get(PAGE, headers={"accept-language": "de-DE, fr;q=0.9"})
    assert heading(unknown) == label("orders.pay_page.waiting")
    nonsense = await browser.get(f"{PAGE}?l=<b>", headers={b"accept-language": ";q=x,,\u00e9;q=2".encode()})
    assert heading(nonsense) == label("orders.pay_page.waiting")


@pytest.mark.usefixtures("change_order")
async def test_every_answer_keeps_itself_to_itself(browser: httpx.AsyncClient) -> None:
    for path in (PAGE, STATE, QR, "/healthz", *NOWHERE):
        headers = (await browser.get(path)).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY, path
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["strict-transport-security"] == "max-age=31536000"
        assert "noindex" in headers["x-robots-tag"]
        assert "set-cookie" not in headers
        assert "location" not in headers
    assert {word for rule in CONTENT_SECURITY_POLICY.split("; ") for word in rule.split()[1:]} == {"'none'", "'self'"}


@pytest.mark.usefixtures("change_order")
async def test_what_is_not_there_and_what_never_was_answer_alike(browser: httpx.AsyncClient) -> None:
    answers = [await browser.get(path) for path in NOWHERE]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert heading(answers[0]) == label("orders.pay_page.unknown")
    assert (await browser.post(PAGE)).status_code == 404


@pytest.mark.parametrize(
    "order", [an_open_order(), a_deposit_order("cbbtc"), a_deposit_order("btcb")], ids=lambda order: order.channel
)
async def test_the_qr_code_reads_back_to_what_the_link_opens(
    browser: httpx.AsyncClient, store: CountingStore, order: Order
) -> None:
    async with store.inner.transaction() as tx:
        await OrderRepository(tx).add(replace(order, page_token=TOKEN))
    answer = await browser.get(QR)
    assert answer.headers["content-type"] == "image/png"
    (read,) = qr_texts(answer.content)
    page = (await browser.get(PAGE)).text
    opened = read.lower() if order.bolt11 else read
    assert f'href="{opened.replace("&", "&amp;")}"' in page


@pytest.mark.usefixtures("always_fresh")
@pytest.mark.parametrize(
    ("state", "changes"),
    [
        ("paid", {"state": "LN_INVOICE_PAID", "step": OrderStep.PAID, "paid_at": NOW}),
        ("sending", {"state": "IDR_SETTLED", "step": OrderStep.SENDING, "paid_at": NOW}),
        ("sent", {"state": "COMPLETED", "step": OrderStep.SENT, "paid_at": NOW, "phase": Phase.DONE}),
        ("failed_paid", {"state": "FAILED", "paid_at": NOW, "phase": Phase.DONE}),
        ("failed_unpaid", {"state": "FAILED", "phase": Phase.DONE}),
        ("expired", {"expires_at": NOW}),
        ("closed", {"phase": Phase.ABANDONED}),
    ],
)
async def test_the_invoice_is_gone_from_every_answer_once_it_is_not_to_be_paid(
    browser: httpx.AsyncClient, change_order: Change, state: str, changes: dict[str, Any]
) -> None:
    assert (await browser.get(QR)).status_code == 200
    etag = (await browser.get(STATE)).headers["etag"]
    await change_order(**changes)
    page, told, qr = await browser.get(PAGE), await browser.get(STATE, headers={"if-none-match": etag}), None
    assert page.status_code == told.status_code == 200
    assert f'data-state="{state}"' in page.text
    assert told.json()["state"] == state
    assert not any(secret in page.text + told.text for secret in PAYING)
    qr = await browser.get(QR)
    assert (qr.status_code, qr.content) == (410, b"")


@pytest.mark.usefixtures("change_order")
async def test_without_its_database_a_page_asks_for_a_moment_and_health_says_so(
    browser: httpx.AsyncClient, store: CountingStore
) -> None:
    store.down = True
    answer = await browser.get(PAGE)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert heading(answer) == label("orders.pay_page.trouble")
    unwell = await browser.get("/healthz")
    assert (unwell.status_code, unwell.json()) == (503, {"status": "unwell", "database": False, "workers": True})
    store.down = False
    assert (await browser.get(PAGE)).status_code == 200


async def test_a_failure_of_our_own_is_told_without_the_address(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_self: Lookup, token: str) -> Order:
        raise RuntimeError(token)

    monkeypatch.setattr(Lookup, "find", fails)
    with capture_logs() as logs:
        answer = await browser.get(PAGE)
    assert answer.status_code == 500
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    said = str(logs)
    assert "request_failed" in said
    assert TOKEN not in said + answer.text


async def save_orders_with_pages(store: CountingStore, count: int) -> list[str]:
    """Save orders with pages, and return their tokens."""
    tokens = [f"{number:032}" for number in range(count)]
    async with store.inner.transaction() as tx:
        for number, token in enumerate(tokens):
            await OrderRepository(tx).add(
                an_open_order(reference=f"R{number}", draft_id=f"d{number}", service_id=None, page_token=token)
            )
    return tokens


async def test_many_pages_are_looked_up_in_a_few_reads_one_at_a_time(store: CountingStore) -> None:
    tokens = await save_orders_with_pages(store, 300)
    lookup = Lookup(store, seconds=lambda: 0.0)
    found = await asyncio.gather(*(lookup.find_recent(token) for token in tokens * 2))
    assert [order.reference for order in found if order] == [f"R{number}" for number in range(300)] * 2
    assert store.reads <= 3
    assert store.most_at_once == 1
    await asyncio.gather(*(lookup.find_recent(token) for token in tokens))
    assert store.reads <= 3, "they are known for a second"
    await lookup.find(tokens[0])
    assert store.reads <= 4, "and looked up all the same where that matters"


async def test_when_too_many_ask_some_are_turned_away_and_the_others_served(
    store: CountingStore,
) -> None:
    tokens = await save_orders_with_pages(store, 30)
    lookup = Lookup(store, pace=replace(PACE, max_waiting=10))
    found = await asyncio.gather(*(lookup.find(token) for token in tokens), return_exceptions=True)
    assert sum(isinstance(each, Order) for each in found) == 10
    assert sum(isinstance(each, TooMany) for each in found) == 20
    assert await lookup.find(tokens[29]) is not None
