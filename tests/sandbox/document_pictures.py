"""Take the pictures of the chat, of a receipt and of a payment request in the documents, with a sandbox of its own.

    python -m tests.sandbox.document_pictures docs

The ports are those of `python -m bot sandbox`, because one of them is seen in the pictures. They have to be free.
"""

import argparse
import asyncio
import io
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from PIL import Image
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from bot.sandbox.bot_api.model import FRIENDS_GROUP_ID
from tests.e2e.chat_page import Viewer, last_message, send_text, tap_button, wait_until_on_screen
from tests.harness import chromium
from tests.texts import label
from tests.waiting import found

EMMA, SARI = 1001, 1002
JPEG = b"\xff\xd8\xff"
"""How the picture in a PDF of one page begins."""

PHONE = ViewportSize(width=390, height=844)
DESKTOP = ViewportSize(width=1280, height=1130)
GAP = 20
GROUND = "#ffffff"
WHO = Viewer("document", EMMA, PHONE)
INDONESIAN = Viewer("document-id", SARI, DESKTOP, locale="id")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The addresses of a running sandbox."""

    page: str
    service: httpx.AsyncClient

    async def does(self, action: str, **body: object) -> None:
        """POST to a control endpoint of the settlement service."""
        (await self.service.post(f"/control/{action}", json=body)).raise_for_status()

    async def advance(self, *, until: str) -> None:
        """Move the newest order on until it is in this state."""
        while (order := (await self.service.get("/control/orders")).json()["orders"][0])["state"] != until:
            await self.does("advance", orderId=order["id"])


@asynccontextmanager
async def running(port: int) -> AsyncIterator[Sandbox]:
    """Run a new sandbox on this port and the two after it."""
    with tempfile.TemporaryDirectory() as state:
        ports = (f"--port={port}", f"--service-port={port + 1}", f"--wallet-port={port + 2}")
        command = (sys.executable, "-m", "bot", "sandbox", "--state", state, *ports)
        # The bot's log is in the output, too.
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, env=os.environ)
        try:
            service = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port + 1}", trust_env=False)
            async with service, httpx.AsyncClient(trust_env=False) as client:
                await found(lambda: _is_healthy(client, port + 2), bool, what="the bot")
                yield Sandbox(f"http://127.0.0.1:{port}", service)
        finally:
            process.terminate()
            await process.wait()


async def _is_healthy(client: httpx.AsyncClient, port: int) -> bool:
    try:
        return (await client.get(f"http://127.0.0.1:{port}/readyz")).is_success
    except httpx.TransportError:
        return False


@asynccontextmanager
async def open_chat(browser: Browser, sandbox: Sandbox, size: ViewportSize) -> AsyncIterator[tuple[Page, Locator]]:
    """Open the chat page as a new visitor. Yield it with Emma's chat."""
    async with await browser.new_context(viewport=size, reduced_motion="reduce", locale="en") as context:
        page = await context.new_page()
        await page.goto(sandbox.page)
        await expect(page.locator("body[data-ready]")).to_be_attached()
        await page.get_by_test_id("guide-close").click()
        yield page, page.get_by_test_id(f"pane-{EMMA}")


async def take_order(browser: Browser, sandbox: Sandbox) -> tuple[Image.Image, str]:
    """Return the picture of an order on a phone, and the address of its wallet page."""
    await sandbox.does("settings", speedSeconds=None)
    async with open_chat(browser, sandbox, PHONE) as (page, pane):
        await pane.get_by_test_id("start").click()
        await expect(last_message(pane, WHO.reads("home.start.text"))).to_be_visible()
        await send_text(pane, "500rb bca 1234567890 Budi Santoso")
        await tap_button(pane, WHO.label("checkout.review.confirm"))
        await expect(pane.get_by_test_id("photo")).to_be_visible()
        address = (
            await pane.get_by_test_id("inline-button")
            .filter(has_text=WHO.label("orders.pay.page"))
            .get_attribute("href")
        )
        shots = [await take_phone(pane)]
        await pay(page, pane, on_phone=True)
        await sandbox.advance(until="LN_SWAP_PENDING")
        await expect(last_message(pane, WHO.label("orders.step.paid"))).to_contain_text(
            f"⏳ {WHO.label('orders.step.converting')}"
        )
        shots.append(await take_phone(pane))
        await sandbox.advance(until="COMPLETED")
        await expect(
            last_message(pane, WHO.reads("orders.notification.sent_bank")).get_by_test_id("photo")
        ).to_be_visible()
        shots.append(await take_phone(pane))
    assert address is not None
    return beside_each_other(shots), address


async def take_request(browser: Browser, sandbox: Sandbox) -> Image.Image:
    """Return the picture of a payment request on phones: as it is made, as it is shared, and as a payer sees it."""
    async with httpx.AsyncClient(base_url=sandbox.page, trust_env=False) as telegram:
        (await telegram.patch(f"/sandbox/people/{SARI}", json={"language_code": "en"})).raise_for_status()
    async with open_chat(browser, sandbox, PHONE) as (page, pane):
        await pane.get_by_test_id("start").click()
        await expect(last_message(pane, WHO.reads("home.start.text"))).to_be_visible()
        answered = None
        for said, key in (
            ("/request", "checkout.request.destination.ask"),
            ("bca", "checkout.number.ask_bank"),
            ("7731004455", "checkout.request.holder.ask"),
            ("Emma Hartono", "checkout.request.amount.ask"),
            ("150rb", "payment_requests.ask.note"),
            ("Lunch on Friday", "payment_requests.ask.uses"),
        ):
            await send_text(pane, said)
            await expect(last_message(pane, WHO.reads(key))).to_be_visible()
            # The answered question goes. Until then, messages can't be counted.
            if answered is not None:
                await expect(last_message(pane, WHO.reads(answered))).to_have_count(0)
            answered = key
        await tap_button(pane, WHO.label("payment_requests.uses.once"))
        await tap_button(pane, WHO.label("payment_requests.review.confirm"))
        await expect(last_message(pane, WHO.reads("payment_requests.card.caption"))).to_be_visible()
        shots = [await take_phone(pane)]
        await tap_button(pane, WHO.label("payment_requests.button.share"))
        await page.get_by_test_id("choice").filter(has_text="Emma & Sari").click()
        group = page.get_by_test_id(f"pane-{FRIENDS_GROUP_ID}")
        await group.get_by_test_id("inline-result").click()
        await expect(last_message(group, WHO.reads("payment_requests.inline.message"))).to_be_visible()
        shots.append(await take_phone(group))
        await group.get_by_test_id("group-speaker").select_option(str(SARI))
        await tap_button(group, WHO.label("payment_requests.inline.pay"))
        payer = page.get_by_test_id(f"pane-{SARI}")
        await expect(last_message(payer, "Lunch on Friday")).to_be_visible()
        shots.append(await take_phone(payer))
    return beside_each_other(shots)


async def take_browser(browser: Browser, sandbox: Sandbox) -> Image.Image:
    """Return the picture of Emma's request as she agrees to its page, and of that page and its payment in a browser."""
    async with open_chat(browser, sandbox, PHONE) as (_, pane):
        await send_text(pane, "/requests")
        await tap_button(pane, "Rp150,000")
        await tap_button(pane, WHO.label("payment_requests.button.browsers"))
        await expect(last_message(pane, WHO.reads("payment_requests.browsers.ask"))).to_be_visible()
        shots = [await take_phone(pane)]
        await tap_button(pane, WHO.label("payment_requests.browsers.agree"))
        agreed = last_message(pane, WHO.reads("payment_requests.page.in_browsers"))
        await expect(agreed).to_be_visible()
        address = next(word for word in (await agreed.inner_text()).split() if "/r/" in word)
    async with await browser.new_context(viewport=PHONE, locale="en", reduced_motion="reduce") as context:
        page = await context.new_page()
        await page.goto(address)
        shots.append(read(await page.screenshot()))
        await page.get_by_role("button", name=WHO.label("payment_requests.web.pay")).click()
        await expect(page.get_by_text(WHO.label("orders.pay_page.waiting"))).to_be_visible()
        shots.append(read(await page.screenshot()))
    return beside_each_other(shots)


async def take_shop(browser: Browser, sandbox: Sandbox, who: Viewer = WHO) -> Image.Image:
    """Return the picture of a shop: a request at the till, the printed card, and the payments of the day."""
    await sandbox.does("settings", speedSeconds=1)
    customer = EMMA + SARI - who.user
    async with open_chat(browser, sandbox, DESKTOP) as (page, _):
        shop, payer = page.get_by_test_id(f"pane-{who.user}"), page.get_by_test_id(f"pane-{customer}")
        for pane in (shop, payer):
            await pane.get_by_test_id("start").click()
        await expect(last_message(shop, who.reads("home.start.text"))).to_be_visible()
        await send_text(shop, "/request bca 7731004455 Warung Melati")
        for key in ("ask.payer_decides", "ask.no_note", "uses.many", "review.confirm", "button.page"):
            await tap_button(shop, who.label(f"payment_requests.{key}"))
        await tap_button(shop, who.label("payment_requests.button.print", paper="A6"))
        printed = last_message(shop, "kirim-A6.pdf").locator("a.file")
        pdf = (await page.request.get(f"{sandbox.page}{await printed.get_attribute('href')}")).body
        card = read((await pdf())[(await pdf()).index(JPEG) :])
        for table, is_paid in ((12, True), (7, True), (5, False)):
            await send_text(shop, f"/request {table + 20}rb meja {table}")
            await tap_button(shop, who.label("payment_requests.review.confirm"))
            caption = last_message(shop, who.reads("payment_requests.card.caption")).filter(has_text=f"meja {table}")
            await caption.get_by_test_id("photo").evaluate("image => image.decode()")
            till = await take_phone(shop)
            if is_paid:
                link = re.search(r"start=(\S+)", await caption.inner_text())
                assert link is not None
                await send_text(payer, f"/start {link[1]}")
                await expect(last_message(payer, f"meja {table}")).to_be_visible()
                await tap_button(payer, label("checkout.review.confirm", "en" if customer == EMMA else who.locale))
                await expect(last_message(payer, "lnbcrt").filter(has_text=f"{table + 20}")).to_be_visible()
                await pay(page, payer, on_phone=False)
                sent = last_message(shop, who.reads("payment_requests.sent")).filter(has_text=f"meja {table}")
                await expect(sent).to_be_visible()
        await send_text(shop, "/requests")
        await expect(last_message(shop, who.reads("payment_requests.list.ask"))).to_be_visible()
        shots = [till, await take_phone(shop)]
    card.thumbnail((card.width, shots[0].height))
    return beside_each_other([shots[0], card, shots[1]])


async def take_chat(browser: Browser, sandbox: Sandbox) -> Image.Image:
    """Return the picture of both senders with their wallets: Emma's receipt, and an invoice that Sari scans."""
    await sandbox.does("settings", speedSeconds=3)
    async with open_chat(browser, sandbox, DESKTOP) as (page, emma):
        sari = page.get_by_test_id(f"pane-{SARI}")
        await sari.get_by_test_id("start").click()
        await expect(last_message(sari, INDONESIAN.reads("home.start.text"))).to_be_visible()
        for pane, who, line in (
            (emma, WHO, "750rb bca 1234567890 Budi Santoso"),
            (sari, INDONESIAN, "300rb gopay 081234567890 Dewi"),
        ):
            await send_text(pane, line)
            await tap_button(pane, who.label("checkout.review.confirm"))
            await expect(last_message(pane, "lnbcrt")).to_be_visible()
        await pay(page, emma, on_phone=False)
        receipt = last_message(emma, WHO.reads("orders.notification.sent_bank")).filter(has_text="750,000")
        await sari.get_by_test_id("wallet-scan").click()
        for message, pane in ((receipt, emma), (last_message(sari, "lnbcrt"), sari)):
            photo = message.get_by_test_id("photo")
            await photo.evaluate("image => image.decode()")
            await wait_until_on_screen(pane, photo, message.get_by_test_id("inline-button").last)
        await page.mouse.move(0, 0)
        return read(await page.locator("#stage").screenshot())


async def take_receipt(browser: Browser, address: str) -> Image.Image:
    """Return the picture of a wallet page that is a receipt, and of the page that its link leads to."""
    async with await browser.new_context(viewport=PHONE, locale="id", reduced_motion="reduce") as context:
        page = await context.new_page()
        await page.goto(address)
        link = await page.locator("[data-shares]").get_attribute("data-shares")
        shots = [read(await page.screenshot(full_page=True))]
        await page.goto(str(link))
        shots.append(read(await page.screenshot(full_page=True)))
    return beside_each_other(shots)


async def pay(page: Page, pane: Locator, *, on_phone: bool) -> None:
    """Pay the newest invoice with Emma's wallet, and return to the chat."""
    if on_phone:
        await page.get_by_test_id("tab-wallet").click()
    await pane.get_by_test_id("wallet-scan").click()
    await pane.get_by_test_id("wallet-pay").click()
    await expect(pane.get_by_test_id("wallet-status")).to_contain_text("Paid")
    if on_phone:
        await page.get_by_test_id("tab-chat").click()


async def take_phone(pane: Locator) -> Image.Image:
    """Return the chat from its header to its newest message, without the input."""
    for picture in await pane.get_by_test_id("photo").all():
        await picture.evaluate("image => image.decode()")
    await pane.page.mouse.move(0, 0)
    await pane.get_by_role("log").evaluate("log => { log.scrollTop = log.scrollHeight; }")
    whole, foot = read(await pane.locator(".phone").screenshot()), await pane.locator(".foot").bounding_box()
    assert foot is not None
    return whole.crop((0, 0, whole.width, whole.height - round(foot["height"])))


def read(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def beside_each_other(shots: Sequence[Image.Image]) -> Image.Image:
    width = sum(shot.width for shot in shots) + GAP * (len(shots) - 1)
    picture, left = Image.new("RGB", (width, max(shot.height for shot in shots)), GROUND), 0
    for shot in shots:
        picture.paste(shot, (left, 0))
        left += shot.width + GAP
    return picture


async def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8480, help="the first of three ports")
    options = parser.parse_args()
    async with chromium.chromium(chromium.find()) as browser:
        async with running(options.port) as sandbox:
            order, address = await take_order(browser, sandbox)
            pictures = {
                "order-messages": order,
                "receipt-page": await take_receipt(browser, address),
                "chat-page": await take_chat(browser, sandbox),
            }
        # There, Sari reads English, and her chat has no order of hers.
        async with running(options.port) as sandbox:
            pictures["payment-request"] = await take_request(browser, sandbox)
            pictures["request-in-browser"] = await take_browser(browser, sandbox)
        async with running(options.port) as sandbox:
            pictures["shop"] = await take_shop(browser, sandbox)
    for name, picture in pictures.items():
        # A third of the size. This method keeps the colours of thin lines.
        small = picture.quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        small.save(options.folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    asyncio.run(main())
