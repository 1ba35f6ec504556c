"""The bot's log after a whole run, with failures and a kill, has no number, name or invoice of a user."""

import json
from pathlib import Path

from tests.e2e.faults import clear_faults, confirm_found_order, kill_and_restart
from tests.e2e.new_users import Sender, new_sender
from tests.e2e.orders.steps import complete_order
from tests.e2e.system import System, running_system
from tests.texts import label, like

HOLDER = "Wulandari Kusumaningrum"
SHOWN = like("orders.card.pay_before")


async def test_a_run_with_every_kind_of_failure_leaves_no_personal_data_and_no_secret_in_the_log(
    tmp_path: Path,
) -> None:
    async with running_system(tmp_path, LOG_LEVEL="debug") as kirim:
        sender = await new_sender(kirim)
        await reaches_review(sender)
        await kirim.telegram_fails("html", "editMessageText", times=1)
        await kirim.telegram_fails("500", "getUpdates", times=1)
        await kirim.telegram_fails("429", "sendPhoto", times=1, retry_after=1)
        await kirim.service.fails_with("500_after", times=1, error=f"no {sender.number} of {HOLDER}")
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
        await confirm_found_order(sender.chat)
        await sender.chat.sees(SHOWN, anywhere=True)
        await kill_and_restart(kirim)
        order = (await sender.orders())[0]
        await kirim.service.fails_with("truncated", method="GET", times=1)
        await kirim.service.pays(order)
        await sender.chat.sees(like("orders.notification.paid"), anywhere=True)
        await complete_order(kirim, order)
        await sender.chat.sees(like("orders.notification.sent_bank"), anywhere=True)
        await clear_faults(kirim)
        assert await kirim.stop_bot() == 0
        assert_private(kirim, sender, order["invoiceBolt11"])


async def reaches_review(sender: Sender) -> None:
    for text, seen in (
        ("/send", like("checkout.destination.ask")),
        ("bca", like("checkout.number.ask_bank")),
        (sender.number, like("checkout.holder.ask")),
        (HOLDER, like("checkout.amount.ask")),
        ("123.456", like("checkout.review.figures", amount="Rp123,456")),
    ):
        await sender.chat.says(text)
        await sender.chat.sees(seen)


def assert_private(kirim: System, sender: Sender, invoice: str) -> None:
    text = kirim.log.read_text()
    token, key = kirim.environment["TELEGRAM_BOT_TOKEN"], kirim.environment["SERVICE_API_KEY"]
    secrets = [token.partition(":")[2], key.partition(".")[2]]
    personal = [sender.number, *HOLDER.split(), invoice, invoice.upper(), "123456", "123.456"]
    assert [found for found in secrets + personal if found.lower() in text.lower()] == []
    events = [json.loads(line) for line in text.splitlines()]
    assert {"process_started", "bot_started", "bot_stopped"} <= {event["event"] for event in events}
