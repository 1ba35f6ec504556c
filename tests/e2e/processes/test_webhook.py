"""The bot behind a webhook: payments go through lost, repeated and overtaking deliveries."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.chat_user import Json
from tests.e2e.orders.steps import complete_order, order_of, tap_to_review, type_to_invoice
from tests.e2e.system import System, running_system
from tests.ports import free_port
from tests.texts import label, like
from tests.waiting import until


@pytest.fixture
async def kirim(tmp_path: Path) -> AsyncIterator[System]:
    port = str(free_port())
    webhook = {"RECEIVE": "webhook", "PUBLIC_URL": f"http://127.0.0.1:{port}", "HTTP_PORT": port}
    async with running_system(tmp_path, **webhook) as made:
        yield made


async def change_deliveries(kirim: System, **faults: float) -> None:
    (await kirim.telegram.post("/sandbox/deliveries", json=faults)).raise_for_status()


async def heal_deliveries(kirim: System) -> None:
    (await kirim.telegram.delete("/sandbox/deliveries")).raise_for_status()


async def get_webhook(kirim: System) -> Json:
    method = f"/bot{kirim.environment['TELEGRAM_BOT_TOKEN']}/getWebhookInfo"
    info: Json = (await kirim.telegram.get(method)).json()["result"]
    return info


async def wait_until_delivered(kirim: System) -> None:
    """Wait until the bot has accepted every update."""

    async def has_none_waiting() -> bool:
        return not (await get_webhook(kirim))["pending_update_count"]

    await until(has_none_waiting, what="the delivery of all updates")


async def pay_and_complete(kirim: System, order: Json) -> None:
    await kirim.service.pays(order)
    await kirim.emma.sees(like("orders.notification.paid"), anywhere=True)
    await complete_order(kirim, order)
    await kirim.emma.sees(like("orders.notification.sent_bank"), anywhere=True)


async def test_rupiah_are_sent_without_a_single_poll_and_without_secrets_in_the_log(kirim: System) -> None:
    _, order = await type_to_invoice(kirim, kirim.emma)
    await pay_and_complete(kirim, order)
    url = (await get_webhook(kirim))["url"]
    assert await kirim.calls("getUpdates") == []
    assert [call["ok"] for call in await kirim.calls("setWebhook")] == [True]
    assert url.rpartition("/")[2] not in kirim.log.read_text()
    async with httpx.AsyncClient() as stranger:
        assert (await stranger.post(url, json={"update_id": 1})).status_code == 401


async def test_an_order_goes_through_lost_and_repeated_deliveries_exactly_once(kirim: System) -> None:
    faults = {"lost_requests_share": 0.2, "lost_answers_share": 0.1, "repeated_share": 0.3}
    await change_deliveries(kirim, **faults, hold_presses=0.5, hold_messages=0.2)
    _, order = await type_to_invoice(kirim, kirim.emma)
    await pay_and_complete(kirim, order)
    await heal_deliveries(kirim)
    await wait_until_delivered(kirim)
    assert len(await kirim.service.orders()) == 1
    for answer in ("checkout.number.ask_bank", "checkout.holder.ask", "orders.notification.paid"):
        assert await kirim.emma.count(like(answer)) <= 1, "a repeated update isn't answered twice"


async def test_a_confirmation_that_arrives_after_later_messages_places_one_order(kirim: System) -> None:
    await tap_to_review(kirim.emma)
    message, confirm = await kirim.emma.button(label("checkout.review.confirm"))
    await change_deliveries(kirim, hold_presses_at_least=3600)
    presses = [asyncio.create_task(kirim.emma.presses(message, confirm, force=True)) for _ in range(2)]
    await kirim.emma.says("/rate")
    await kirim.emma.sees(like("rates.btc", rate="Rp"))
    assert await kirim.service.orders() == []
    await heal_deliveries(kirim)
    await kirim.emma.sees(like("orders.status_message.waiting"), anywhere=True)
    assert all(answer["answered"] for answer in await asyncio.gather(*presses))
    await pay_and_complete(kirim, await order_of(kirim, kirim.emma))
    assert len(await kirim.service.orders()) == 1
