"""The payment page of a real bot, from the button under the invoice until the rupiah were sent.

`SCREENSHOTS=folder` saves screenshots.
"""

import os
import re
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from bot.infra.i18n import LOCALES
from tests.e2e.bot_database import expire_order
from tests.e2e.new_users import new_user
from tests.e2e.orders.payment_pages import TOKEN, Phone, open_phone, page_address, page_settings, scan_qr_code
from tests.e2e.orders.steps import complete_order, tap_to_invoice
from tests.e2e.system import System, running_system
from tests.pictures import qr_texts
from tests.texts import TRANSLATIONS, label, like, text
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")

LEFT = re.compile(r"(5\d):(\d\d)")
RUN_BY = {
    "OPERATOR_NAME": "PT Kirim & Co",
    "TERMS_URL": "https://kirim.example/terms",
    "PRIVACY_URL": "https://kirim.example/privacy",
}
STATE = "**/state?*"
MOVABLE_CLOCK = "{ const now = Date.now; window.ahead = 0; Date.now = () => now() + ahead; }"
Pictures = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def lasting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_system(tmp_path_factory.mktemp("pages"), **page_settings(), **RUN_BY) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def paged(lasting: System) -> System:
    """Return a system whose bot serves pages. Restart it if the last test stopped it."""
    if lasting.bot is None or lasting.bot.returncode is not None:
        await lasting.start_bot()
    return lasting


async def picture(shown: Phone, name: str) -> None:
    if Pictures is not None:
        Pictures.mkdir(parents=True, exist_ok=True)
        await shown.page.screenshot(path=Pictures / f"wallet-page-{name}.png", full_page=True)


async def fits_the_screen(shown: Phone) -> None:
    assert await shown.page.evaluate("() => document.documentElement.scrollWidth") <= 360


@pytest.mark.browser
async def test_a_payment_is_made_and_followed_on_its_page_in_both_languages(paged: System, browser: Browser) -> None:
    emma = await new_user(paged)
    _, order = await tap_to_invoice(paged, emma)
    address = await page_address(emma)
    assert address is not None
    assert TOKEN.search(address)
    async with open_phone(browser) as english, open_phone(browser, dark=True) as indonesian:
        both = {"en": english, "id": indonesian}
        for locale, shown in both.items():
            await shown.page.goto(address.replace("l=en", f"l={locale}"))
            await says(shown, locale, "waiting")
            await check_payable(shown, order["invoiceBolt11"])
        await paged.service.pays(order)
        for locale, shown in both.items():
            await shown.sees("paid")
            await says(shown, locale, "paid")
            # The keyboard was on a button that is gone.
            assert await shown.page.evaluate("() => document.activeElement.id") == "heading"
            assert order["invoiceBolt11"][:40] not in (await shown.source()).lower()
            assert shown.asked.count(shown.page.url) == 1, "it was never loaded again"
        await complete_order(paged, order)
        for locale, shown in both.items():
            await shown.sees("sent")
            await says(shown, locale, "sent")
            await check_receipt(paged, shown, locale)
    async with httpx.AsyncClient() as other:
        assert order["invoiceBolt11"][:40] not in (await other.get(address)).text.lower()
        assert (await other.get(address.replace("?", "/qr.png?"))).status_code == 410


async def says(shown: Phone, locale: str, state: str) -> None:
    await expect(shown.page.locator("h1")).to_have_text(label(f"orders.pay_page.{state}", locale))
    await picture(shown, f"{locale}-{state}")


def one_of(texts: Iterable[str]) -> re.Pattern[str]:
    return re.compile(f"^(?:{'|'.join(map(re.escape, texts))})$")


def in_minutes(minutes: int) -> str:
    """Return how a page without JavaScript says when its invoice expires."""
    now = datetime.now(UTC)
    return text("orders.pay_page.expires", soon=TRANSLATIONS.get("en").until(now + timedelta(minutes=minutes), now))


async def check_payable(shown: Phone, invoice: str) -> None:
    """Check that it can be paid by camera, by link and by clipboard, and that the time is counted down."""
    await fits_the_screen(shown)
    assert await scan_qr_code(shown.page) == [f"LIGHTNING:{invoice.upper()}"]
    await expect(shown.page.locator("a.primary")).to_have_attribute("href", f"lightning:{invoice}")
    await expect(shown.page.locator("#left")).to_have_text(re.compile(r"5\d:\d\d"))
    await shown.page.locator("[data-copies=invoice]").click()
    assert await shown.page.evaluate("() => navigator.clipboard.readText()") == invoice


async def check_receipt(kirim: System, shown: Phone, locale: str) -> None:
    """Check that the page is now a receipt that fits, can be kept and printed, and whose link anyone can open."""
    await fits_the_screen(shown)
    code = (await shown.page.locator(".code").inner_text()).replace("-", "")
    link = f"{kirim.environment['PUBLIC_URL']}/verify/{code}"
    assert await scan_qr_code(shown.page, ".proof img") == [link]
    # This browser can't share, so the button copies the link.
    button = shown.page.get_by_role("button", name=label("orders.receipt_page.copy_link", locale))
    await button.click()
    assert await shown.page.evaluate("() => navigator.clipboard.readText()") == link
    async with shown.page.expect_download() as saving:
        await shown.page.get_by_role("link", name=label("orders.receipt_page.save", locale)).click()
    picture_file = await (await saving.value).path()
    assert qr_texts(picture_file.read_bytes()) == [link]
    async with httpx.AsyncClient() as other:
        opened = await other.get(link, headers={"accept-language": locale})
    assert f'<h1 id="heading">{label("orders.receipt_page.genuine", locale)}</h1>' in opened.text


@pytest.mark.browser
async def test_a_page_without_scripts_says_the_same_and_leads_into_the_wallet(paged: System, browser: Browser) -> None:
    emma = await new_user(paged)
    _, order = await tap_to_invoice(paged, emma)
    address = await page_address(emma)
    assert address is not None
    async with open_phone(browser, scripts=False) as shown:
        await shown.page.goto(address)
        await expect(shown.page.locator("h1")).to_have_text(label("orders.pay_page.waiting"))
        await expect(shown.page.locator("#left")).to_have_text(one_of([in_minutes(59), in_minutes(60)]))
        await expect(shown.page.locator("#invoice")).to_have_text(order["invoiceBolt11"])
        await expect(shown.page.locator("button")).to_be_hidden()
        assert await scan_qr_code(shown.page) == [f"LIGHTNING:{order['invoiceBolt11'].upper()}"]
        await shown.page.get_by_role("link", name=LOCALES["id"].name).click()
        await expect(shown.page.locator("h1")).to_have_text(label("orders.pay_page.waiting", "id"))
        await paged.service.pays(order)
        await emma.sees(like("orders.notification.paid"), anywhere=True)
        # What the page does every 20 seconds.
        await shown.page.reload()
        await expect(shown.page.locator("h1")).to_have_text(label("orders.pay_page.paid", "id"))


@pytest.mark.browser
async def test_an_invoice_that_expires_leaves_the_page_by_itself(paged: System, browser: Browser) -> None:
    emma = await new_user(paged)
    _, order = await tap_to_invoice(paged, emma)
    address = await page_address(emma)
    assert address is not None
    async with open_phone(browser) as shown:
        # We don't use the browser driver's clock: on a busy machine it waited for the empty page without end.
        await shown.page.add_init_script(MOVABLE_CLOCK)
        # No answer reaches the page from the start, not even one to its first request. So it counts down without them.
        await shown.page.route(STATE, lambda route: route.abort("aborted"))
        await shown.page.goto(address)
        await expect(shown.page.locator("#left")).to_have_text(LEFT)
        minutes, seconds = LEFT.findall(await shown.page.locator("#left").inner_text())[0]
        await move_clock(shown, 60 * (int(minutes) - 2) + int(seconds))
        await expect(shown.page.locator("#left")).to_have_text(re.compile(r"\b[012]:\d\d"))
        await move_clock(shown, 120)
        await shown.sees("expired")
        assert order["invoiceBolt11"][:40] not in (await shown.source()).lower()
        await expect(shown.page.locator("h1")).to_have_text(label("orders.pay_page.expired"))
        # The invoice doesn't come back when the server answers again. The server may reuse a status for a second, and
        # the order was changed directly in the database, so wait for its answer first.
        await expire_order(paged, order)
        async with httpx.AsyncClient() as other:
            state = address.replace("?", "/state?")
            await found(lambda: _state(other, state), "expired".__eq__, what="the server says that it has expired")
        await shown.page.unroute_all()
        async with shown.page.expect_response(STATE) as answered:
            await shown.page.evaluate("dispatchEvent(new Event('online'))")
        assert (await (await answered.value).json())["state"] == "expired"
        await shown.sees("expired")
        assert order["invoiceBolt11"][:40] not in (await shown.source()).lower()
        await picture(shown, "en-expired")


async def move_clock(shown: Phone, seconds: int) -> None:
    """Move the page's clock ahead at once. Its timers run as before."""
    await shown.page.evaluate("seconds => { ahead += seconds * 1000; }", seconds)


async def _state(client: httpx.AsyncClient, address: str) -> str:
    return str((await client.get(address)).json()["state"])


async def test_help_privacy_and_the_page_say_who_runs_the_bot_and_link_the_terms(paged: System) -> None:
    emma = await new_user(paged)
    for command, begins in (("/help", "support.help.text"), ("/privacy", "users.privacy.text")):
        await emma.says(command)
        shown = await emma.sees(like(begins))
        assert shown["text"].endswith(
            f"{text('users.provider.name', name=RUN_BY['OPERATOR_NAME'])} · Terms · Privacy policy"
        )
        links = {entity["url"] for entity in shown["entities"] if entity["type"] == "text_link"}
        assert links == {RUN_BY["TERMS_URL"], RUN_BY["PRIVACY_URL"]}
    await tap_to_invoice(paged, emma)
    address = await page_address(emma)
    async with httpx.AsyncClient() as browser:
        foot = (await browser.get(str(address))).text.partition("<footer>")[2]
    assert "PT Kirim &amp; Co" in foot
    assert all(f'href="{RUN_BY[name]}"' in foot for name in ("TERMS_URL", "PRIVACY_URL"))


async def test_no_address_of_a_page_is_in_the_log(paged: System) -> None:
    emma = await new_user(paged)
    await tap_to_invoice(paged, emma)
    address = await page_address(emma)
    assert address is not None
    assert TOKEN.search(address)
    async with httpx.AsyncClient() as other:
        assert (await other.get(address)).status_code == 200
    said = paged.log.read_text()
    assert '"bot_started"' in said
    assert not re.search(r"/p/[A-Za-z0-9_-]{32}", said)
