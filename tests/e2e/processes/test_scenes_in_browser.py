"""What the guide offers after the first payment, played by the page itself with the real bot.

`SCREENSHOTS=folder` saves screenshots.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.chat_page import PHONE, Viewer, open_address, save_screenshot
from tests.e2e.faults import HOLD_SECONDS
from tests.e2e.processes.sandbox_program import open_sandbox

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

EMMA = Viewer("emma-scenes", 1001, PHONE)
SCENE_SECONDS = 600
"""More than all limits of a scene together. It ends itself at the first of them, and names the step."""

WITHOUT_PAUSES = """async () => {
  const { Play } = await import('/static/play.js');
  Play.pauseMs = Play.captionMs = 0;
}"""


async def test_a_newcomer_sees_a_failure_a_broadcast_and_a_killed_bot_with_one_press_each(
    browser: Browser, tmp_path: Path
) -> None:
    async with (
        open_sandbox(tmp_path) as (_, http),
        open_address(browser, str(http.base_url), EMMA) as page,
    ):
        (await http.post("/service/settings", json={"speedSeconds": 1})).raise_for_status()
        await page.evaluate(WITHOUT_PAUSES)
        guide = page.get_by_test_id("guide")
        # The first steps are done once an order has ended: with a receipt, or with a failure.
        for text in ("/start", "/send"):
            await http.post("/sandbox/chats/1001/send", json={"from": 1001, "text": text})
        (order_id,) = (await http.post("/service/bulk", json={"count": 1})).raise_for_status().json()["orderIds"]
        for does in ("pay", "fail"):
            (await http.post(f"/service/{does}", json={"orderId": order_id})).raise_for_status()
        # The bot is killed while it waits for Telegram's answer to the invoice, so it sends the invoice a second time.
        unanswered = {
            "fault": "delay_after",
            "method": "sendPhoto",
            "chat_id": 1001,
            "seconds": HOLD_SECONDS,
            "times": 1,
        }
        (await http.post("/sandbox/faults", json=unanswered)).raise_for_status()
        for scene in ("kill", "fail", "broadcast"):
            await page.get_by_test_id(f"scene-{scene}").click()
            await expect(guide).to_have_attribute("data-tone", "playing")
            await expect(guide, f"the scene {scene!r} ends").not_to_have_attribute(
                "data-tone", "playing", timeout=SCENE_SECONDS * 1000
            )
            await expect(page.get_by_test_id("scene-stop")).to_be_hidden()
            await save_screenshot(page, EMMA, scene)
            await expect(page.get_by_test_id("guide-text")).to_contain_text("Just proved: ")
            await expect(page.get_by_test_id(f"scene-{scene}")).to_have_class("action small scene shown")
        orders = (await http.get("/service/orders")).json()["orders"]
        assert [(order["state"], order["paid"]) for order in orders[:2]] == [("FAILED", True), ("COMPLETED", True)]
        topics = [
            chat["topics"]
            for chat in (await http.get("/sandbox/state")).json()["chats"]
            if chat["id"] == SUPPORT_GROUP_ID
        ]
        assert len(topics[0]) == 1
