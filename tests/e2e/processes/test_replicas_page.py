"""`make run ARGS="--replicas 3"`: several processes of the bot on one PostgreSQL, killed and frozen from the panel."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from bot.sandbox import postgresql, process_locks
from tests.e2e.chat_page import (
    DESKTOP,
    Viewer,
    last_message,
    open_address,
    pay_in_wallet,
    save_screenshot,
    send_text,
    tap_button,
)
from tests.e2e.chat_user import ChatUser
from tests.e2e.orders.payment_pages import page_address
from tests.e2e.processes.sandbox_program import ends_clean, open_sandbox
from tests.texts import like
from tests.waiting import until

pytestmark = pytest.mark.postgresql

JSON = {"content-type": "application/json"}
EMMA = Viewer("emma-replicas", 1001, DESKTOP)
ALIVE = ("running", "running", "running")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder in which the sandbox runs. PostgreSQL's files can be elsewhere."""
    yield tmp_path
    postgresql.delete(tmp_path / "here")


def list_held(folder: Path) -> list[str]:
    """Return the locks of what runs in the folder: the sandbox, its replicas, PostgreSQL, and who uses SQLite."""
    return sorted(path.stem for path in (folder / "here").glob("*.lock") if process_locks.is_held(path))


async def test_a_killed_sandbox_leaves_no_process_and_the_next_one_continues_with_any_number_of_replicas(
    folder: Path,
) -> None:
    async def has_nothing_left() -> bool:
        return list_held(folder) == []

    async with open_sandbox(folder) as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("/send")
        await emma.sees(like("checkout.destination.ask"))
        assert list_held(folder) == ["kirim.db", "replica-1", "sandbox"]
        await program.ends_on(signal.SIGKILL)
        await until(has_nothing_left, what="the end of the bot")
    async with open_sandbox(folder, "--replicas", "2") as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("bca")
        await emma.sees(like("checkout.number.ask_bank"))
        assert list_held(folder) == ["postgresql", "replica-1", "replica-2", "sandbox"]
        (await http.post("/replicas/2/freeze", headers=JSON)).raise_for_status()
        await program.ends_on(signal.SIGKILL)
        await until(has_nothing_left, what="the end of PostgreSQL and all replicas")
    async with open_sandbox(folder) as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("1234567890")
        await emma.sees(like("checkout.holder.ask"))
        await ends_clean(program, signal.SIGINT)
        assert await has_nothing_left()
    async with open_sandbox(folder, "--replicas", "2", "--fresh") as (program, http):
        emma = ChatUser(http, 1001)
        assert await emma.messages() == []
        await emma.says("/status")
        await emma.sees(like("orders.status.none"))
        (await http.post("/replicas/1/freeze", headers=JSON)).raise_for_status()
        await ends_clean(program, signal.SIGINT)
        assert await has_nothing_left()


async def show_states(page: Page, *states: str) -> None:
    await expect(page.get_by_test_id("replica-state")).to_have_text(list(states))


async def kill(page: Page, replica: Locator) -> None:
    """Kill a replica with its button."""
    # `replica` finds it by what its row shows, which changes.
    row = page.get_by_test_id(await replica.get_attribute("data-testid") or "")
    await row.get_by_test_id("replica-kill").click()
    await expect(row).to_have_attribute("data-state", "dead")


async def start_all(page: Page) -> None:
    await page.get_by_role("button", name=re.compile("^Start replica")).click()
    await show_states(page, *ALIVE)


async def confirm(page: Page, pane: Locator) -> None:
    """Press Confirm, and the newest one again if that is out of date.

    A replica that is killed right after it has asked may not have saved that. Then the next one asks again.
    """
    invoice, out_of_date = pane.get_by_test_id("photo"), page.get_by_text(EMMA.label("users.stale.button"))
    while True:
        await tap_button(pane, EMMA.label("checkout.review.confirm"))
        await expect(invoice.or_(out_of_date).first).to_be_visible()
        if await invoice.is_visible():
            return
        await expect(out_of_date).to_be_hidden()


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_payment_arrives_although_replicas_are_killed_on_the_page(browser: Browser, folder: Path) -> None:
    async with (
        open_sandbox(folder, "--replicas", "3") as (_, http),
        open_address(browser, str(http.base_url), EMMA) as page,
    ):
        pane = page.get_by_test_id(f"pane-{EMMA.user}")
        await page.get_by_test_id("service-toggle").click()
        await show_states(page, *ALIVE)
        await expect(page.get_by_text("leader", exact=True)).to_have_count(1)
        await pane.get_by_test_id("start").click()
        await expect(last_message(pane, EMMA.reads("home.start.text"))).to_be_visible()
        await send_text(pane, "/send 500rb bca 1234567890")
        await expect(last_message(pane, EMMA.reads("checkout.review.title"))).to_be_visible()
        # The replica that asked her still holds her chat. Another one takes it over.
        await kill(page, page.locator('[data-chats="1"]'))
        await save_screenshot(page, EMMA, "killed")
        await confirm(page, pane)
        await start_all(page)
        # The leader follows the orders.
        await kill(page, page.locator("tr").filter(has=page.get_by_text("leader", exact=True)))
        address = await page_address(ChatUser(http, EMMA.user))
        assert address is not None
        assert (await page.request.get(address)).ok
        await pay_in_wallet(page, EMMA)
        await expect(last_message(pane, EMMA.reads("orders.notification.paid"))).to_be_visible()
        await start_all(page)
        await expect(last_message(pane, EMMA.reads("orders.notification.sent_bank"))).to_be_visible()
        await save_screenshot(page, EMMA, "sent")
        orders = (await http.get("/service/orders")).json()["orders"]
        assert [(order["state"], order["idrAmount"]) for order in orders] == [("COMPLETED", 500_000)]
        # The message about the payment was the timeline. A copy of it would have this line, too.
        timeline, receipt = (
            pane.get_by_test_id("message").filter(has_text=EMMA.reads(text))
            for text in ("orders.status_message.sent_after", "orders.notification.sent_bank")
        )
        await expect(timeline).to_have_count(1)
        await expect(receipt).to_have_count(1)
