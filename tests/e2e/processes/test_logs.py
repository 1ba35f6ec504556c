"""The bot's log after a whole run, with failures and a kill, has no number, name or invoice of a user."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.e2e.chat_user import Json
from tests.e2e.faults import clear_faults, confirm_found_order, kill_and_restart
from tests.e2e.new_users import Sender, new_sender, new_senders_at_review
from tests.e2e.orders.steps import complete_order, refresh_status
from tests.e2e.system import System, running_system
from tests.texts import label, like

HOLDER = "Wulandari Kusumaningrum"
SHOWN = like("orders.status_message.waiting")


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
        await sender.chat.says(f"lightning:{order['invoiceBolt11'].upper()}")
        await sender.chat.sees(like("orders.asked.own_invoice"))
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
    assert len({event["process"] for event in events}) == 2, "the bot was started twice"


async def test_the_reference_of_an_order_finds_its_whole_story_and_nothing_of_another_order(tmp_path: Path) -> None:
    async with running_system(tmp_path) as kirim:
        senders = await new_senders_at_review(kirim, 2)
        await asyncio.gather(*(complete_an_order(kirim, sender) for sender in senders))
        assert await kirim.stop_bot() == 0
        lines = [json.loads(line) for line in kirim.log.read_text().splitlines()]
        references = [find_reference(kirim, sender) for sender in senders]
    stories = [[line for line in lines if reference in json.dumps(line)] for reference in references]
    for reference, story, sender in zip(references, stories, senders, strict=True):
        assert [line for line in story if line["order"] != reference] == []
        steps = [step for step in dict.fromkeys(map(step_of, story)) if step in STEPS]
        # Edits have a queue of their own, so the timeline can be edited before the receipt is drawn.
        assert [*steps[:-2], *sorted(steps[-2:], reverse=True)] == STEPS
        assert [line["timestamp"] for line in story] == sorted(line["timestamp"] for line in story)
        assert [line["action"] for line in story if line["event"] == "order_button_pressed"] == ["refresh_status"]
        same_update = [line["order"] for line in lines if line.get("update") == story[0]["update"]]
        assert same_update == [reference] * 4
        named = (sender.chat.id, str(sender.chat.id), sender.number, "Nadia")
        assert [line for line in lines if any(value in named for value in line.values())] == []
        assert sender.number not in json.dumps(lines)
    assert len({line["process"] for line in lines}) == 1
    assert [name for line in lines for name in ("pid", "host") if name in line] == ["pid", "host"]


STEPS = [
    "order_confirmed",
    "order_submitted",
    "order_created",
    "order_changed open",
    "message_sent invoice",
    "order_changed LN_INVOICE_PAID",
    "message_sent paid",
    "message_sent remove_invoice",
    "order_changed COMPLETED",
    "message_sent sent",
    "message_sent edit_status",
]


def step_of(line: Json) -> str:
    """Return an event with the state or the message that it is about."""
    return " ".join([line["event"], *([line[name] for name in ("state", "phase", "message") if name in line][:1])])


async def complete_an_order(kirim: System, sender: Sender) -> None:
    await sender.chat.taps(label("checkout.review.confirm"))
    shown = await sender.chat.sees(SHOWN, anywhere=True)
    order = await sender.has_order()
    await refresh_status(kirim, sender.chat, shown, order)
    await kirim.service.pays(order)
    await sender.chat.sees(like("orders.notification.paid"), anywhere=True)
    await complete_order(kirim, order)
    await sender.chat.sees(like("orders.notification.sent_bank"), anywhere=True)


def find_reference(kirim: System, sender: Sender) -> str:
    with closing(sqlite3.connect(kirim.state / "kirim.db")) as database:
        ((reference,),) = database.execute("SELECT reference FROM orders WHERE user_id = ?", (sender.chat.id,))
    return str(reference)
