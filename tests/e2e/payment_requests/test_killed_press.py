"""A bot killed behind the press of a browser: before it has saved the order, and after the service has created it."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.e2e.faults import hold_service, kill_and_restart
from tests.e2e.orders.payment_pages import page_settings
from tests.e2e.payment_requests.test_paying_in_browser import SARI, save_request
from tests.e2e.system import running_system
from tests.payment_requests.web_system import Tab, place_of
from tests.texts import label
from tests.waiting import found


async def test_kill_9_between_the_press_and_its_answer_makes_one_order_and_its_page_goes_on(tmp_path: Path) -> None:
    settings = page_settings()
    async with running_system(tmp_path, **settings) as kirim:
        request = await save_request(kirim, SARI, in_browsers=True)
        path = f"/r/{request.token}"
        async with httpx.AsyncClient(base_url=settings["PUBLIC_URL"]) as client:
            tab = Tab(client)
            await tab.open(path)
            async with hold_service(kirim, method="GET", path="/v1/payout/methods"):
                pressed = asyncio.create_task(tab.press(path))
            await kill_and_restart(kirim)
            with pytest.raises(httpx.TransportError):
                await pressed
            async with hold_service(kirim, "delay_after"):
                payment = place_of(await tab.press(path))
            await kill_and_restart(kirim)
            assert place_of(await tab.press(path)) == payment

            async def look() -> str:
                return (await tab.open(payment)).text

            # The service's list has only part of the number, so the page asks what a chat would ask.
            await found(look, lambda html: label("orders.button.found_is_mine") in html, what="the question")
            stranger = Tab(httpx.AsyncClient(base_url=settings["PUBLIC_URL"]))
            assert label("orders.button.found_is_mine") not in (await stranger.open(payment)).text
            await stranger.client.aclose()
            await tab.post(payment, answer="accept")
            assert "lightning:" in await look()
            assert place_of(await tab.open(path)) == payment
            assert len(await kirim.service.orders()) == 1
