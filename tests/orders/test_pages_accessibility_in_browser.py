"""The wallet pages and the pages of receipts in a real Chromium: axe-core finds nothing on any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.infra.db.database import Database
from bot.infra.http.health import Health
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.orders.pay_page.app import create_app
from bot.orders.receipts.codes import compact_code
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from bot.users.model import Provider
from tests.accessibility import DESKTOP, PHONE, check_looks
from tests.infra.keys import VAULT
from tests.orders.builders import a_deposit_order, an_open_order, as_sent
from tests.sandbox.serving import serving
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from bot.orders.order import Order

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TWO_LOOKS = ((PHONE, "dark"), (DESKTOP, "light"))
RUN_BY = Provider(name="PT Kirim", terms_url="https://kirim.example/terms", privacy_url="https://kirim.example/privacy")


def orders() -> dict[str, Order]:
    """Return an order for each kind of page. The keys are the tokens of their pages."""
    waiting = an_open_order(holder="Budi Santoso")
    known = {
        "waiting": waiting,
        "deposit": a_deposit_order("cbbtc"),
        "sending": replace(waiting, state="IDR_SETTLED", paid_at=NOW),
        "sent": as_sent(waiting),
        "failed": replace(as_sent(waiting), state="FAILED"),
        "expired": replace(waiting, expires_at=NOW),
    }
    made = {}
    for place, (name, order) in enumerate(known.items()):
        token = name.ljust(32, "x")
        made[token] = replace(
            order,
            reference=f"ABC234{place}",
            draft_id=name,
            service_id=name,
            payment_hash=None,
            page_token=token,
        )
    return made


async def test_axe_finds_nothing_on_the_wallet_pages_and_those_of_receipts(file: str, browser: Browser) -> None:
    store, clock = Database(file, VAULT), MovedClock()
    clock.at = NOW
    pages = orders()
    async with store.transaction() as tx:
        for order in pages.values():
            assert await OrderRepository(tx).add(order)
    receipt = await ReceiptService(store, clock).get_or_create(pages["sent".ljust(32, "x")])
    assert receipt is not None
    app = create_app(
        database=store,
        clock=clock,
        translations=TRANSLATIONS,
        public_url="http://127.0.0.1:8482",
        health=Health(store, ProcessState(), LoopLag()),
        provider=RUN_BY,
        bot="kirim_bot",
    )
    async with serving(app) as url, await browser.new_context() as context:
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        page = await context.new_page()
        for token in pages:
            await page.goto(f"{url}/p/{token}")
            await check_looks(page, token.rstrip("x"), TWO_LOOKS)
        for path in (f"verify/{compact_code(receipt.code)}?l=id", "verify/", "verify/unknown?l=id"):
            await page.goto(f"{url}/{path}")
            await check_looks(page, path, TWO_LOOKS)
    await store.close()
