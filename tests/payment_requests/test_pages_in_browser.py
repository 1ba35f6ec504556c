"""The pages of a payer without a chat in a real Chromium, in states that few payers see: axe-core finds nothing.

`SCREENSHOTS=folder` saves screenshots.
"""

from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page

from bot.orders.limits import LinkLimits
from tests.accessibility import DESKTOP, PHONE, check_looks
from tests.e2e.chat_page import Pictures
from tests.orders.order_system import OrderSystem
from tests.payment_requests.test_pages import PAGES_RULES, paid
from tests.payment_requests.test_paying import ask, connect
from tests.payment_requests.web_system import PAGE, Web, orders_of
from tests.sandbox.serving import serving
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import label
from tests.waiting import TIMEOUT_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TWO_LOOKS = ((PHONE, "dark"), (DESKTOP, "light"))


async def test_axe_finds_nothing_on_questions_refusals_and_failures(
    file: str, browser: Browser, service: FakeSettlement
) -> None:
    system = OrderSystem(file, service, rules=PAGES_RULES)
    connect(system)
    web = Web(system, public_url="http://127.0.0.1:8482")
    await ask(system, in_browsers=True, is_reusable=True, idr=None)

    async def press(page: Page) -> None:
        await page.get_by_role("button", name=label("payment_requests.web.pay")).click()
        await page.wait_for_load_state()
        await system.orders.submission.wait()
        await page.reload()

    async def check(page: Page, name: str) -> None:
        await check_looks(page, name, TWO_LOOKS)
        if Pictures is not None:
            await page.screenshot(path=Pictures / f"page-{name}.png", full_page=True)

    async with serving(web.app) as url, await browser.new_context() as mine, await browser.new_context() as others:
        for context in (mine, others):
            context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        page, seen = await mine.new_page(), await others.new_page()
        await page.goto(f"{url}{PAGE}?l=en&amount=1.500")
        await check(page, "ambiguous amount")
        await page.goto(f"{url}{PAGE}?l=en&amount=150rb")
        await check(page, "price")
        service.locked_rate = service.rate * 9 // 10
        await press(page)
        await check(page, "question")
        await seen.goto(page.url)
        await check(seen, "question of another")
        await page.get_by_role("button", name=label("orders.button.accept_price")).click()
        await page.get_by_text(label("orders.pay_page.waiting")).wait_for()
        await check(page, "waiting")
        await paid(system, "svc-1", "LN_INVOICE_PAID", "FAILED")
        await page.reload()
        await check(page, "failed")
        await seen.goto(page.url)
        await seen.get_by_text(label("orders.pay_page.payer.prove_title")).click()
        await check(seen, "failed of another")
        await page.goto(f"{url}{PAGE}?l=en&amount=200rb")
        await page.get_by_text(label("payment_requests.web.report")).click()
        await check(page, "report")
        system.orders.rules = replace(PAGES_RULES, link_limits=LinkLimits(from_one=1))
        await page.get_by_role("button", name=label("payment_requests.web.pay")).click()
        await page.get_by_role("alert").wait_for()
        await check(page, "busy")
        assert len(await orders_of(system)) == 1
    await web.close()
    await system.close()
