"""The report of a failed test: its users' messages, and the logs of bot and service since the test began."""

from tests.e2e import failure_report
from tests.e2e.chat_user import NotSeen
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until


async def test_it_shows_the_chats_with_their_buttons_the_log_and_the_journals(kirim: System) -> None:
    emma = await new_user(kirim)
    _, order = await tap_to_invoice(kirim, emma)
    await emma.says("/status")
    await emma.sees(like("orders.status.title"))
    shown = dict(failure_report.sections())
    (chat,) = (text for title, text in shown.items() if title.startswith(f"Chat {emma.id} "))
    assert f"[{label('orders.button.history')} → h:" in chat
    assert "1234567890" in chat
    assert order["invoiceBolt11"] not in chat, "what nobody reads is cut"
    assert " bot_started " in shown["Bot's log"]
    assert "POST /v1/offramp/orders → 201" in shown["Settlement service's journal"]
    assert order["id"] in shown["Settlement service's journal"]
    assert "sendPhoto 1" in shown["Telegram's journal"]


async def test_it_begins_where_the_test_does_and_with_the_chat_in_which_it_waited(kirim: System) -> None:
    emma, sari = await new_user(kirim), await new_user(kirim)
    await emma.says("/start")
    await emma.sees(like("home.start.text"))
    failure_report.begins(())
    assert failure_report.sections() == [], "nothing has happened since"
    await emma.says("/help")
    await sari.says("/help")

    async def both_are_answered() -> bool:
        return len(await sari.messages()) == 2 and len(await emma.messages()) == 4

    await until(both_are_answered, what="both answers")
    titles = [title for title, _ in failure_report.sections(NotSeen("it", emma.id))]
    assert titles[0].startswith(f"Chat {emma.id} ")
    assert titles[1].startswith(f"Chat {sari.id} ")
    assert "Bot's log" not in titles, "it had been started before"
