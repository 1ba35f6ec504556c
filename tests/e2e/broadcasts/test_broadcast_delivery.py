"""Running broadcasts: killed in the middle, with blocked users and refusals, and with two operators."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from tests.e2e.broadcasts.subscribers import (
    add_confirmed_broadcast,
    add_subscribers,
    count_messages,
    count_subscribed,
    find_unknown,
    wait_for_live_message,
    wait_for_report,
    wait_until_reached,
)
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.orders.steps import complete_order, tap_to_invoice
from tests.e2e.system import running_system
from tests.texts import label, like, text
from tests.waiting import found

READERS, BLOCKED = 160, 8
TOO_MANY = 429
LONGER_THAN_ALL_OTHERS_TAKE = 40
FINISHED, IN_PROGRESS = like("broadcasts.delivery.done"), like("broadcasts.delivery.running")
LIVE = "|".join(like(f"broadcasts.delivery.{state}") for state in ("running", "resting", "paused", "stopped", "done"))


async def test_a_killed_broadcast_continues_automatically_and_reaches_nobody_twice(tmp_path: Path) -> None:
    async with running_system(tmp_path) as kirim:
        await kirim.oscar.says("/start")
        readers = await add_subscribers(kirim, READERS, blocked=BLOCKED)
        lost, delayed = (ChatUser(kirim.telegram, reader) for reader in readers[READERS // 2 :][:2])
        sends = calls_of(kirim, "sendMessage")
        async with hold_call(sends, lost), hold_call(sends, delayed, "delay_after"):
            broadcast = await add_confirmed_broadcast(kirim)
            await wait_for_live_message(kirim, broadcast)
        await kill_and_restart(kirim)
        ended = await wait_for_report(kirim, broadcast)
        reached, unknown = (
            await count_messages(kirim, readers),
            await find_unknown(kirim, broadcast),
        )
        assert set(reached.values()) == {1}
        assert {lost.id, delayed.id} <= unknown
        assert lost.id not in reached
        blocked = set(readers[:BLOCKED])
        assert set(readers) - reached.keys() - blocked <= unknown, "nobody is left out but who is listed"
        assert ended["delivered"] + ended["blocked"] + len(unknown) == READERS
        assert ended["blocked"] == BLOCKED == READERS - await count_subscribed(kirim)
        live = await kirim.oscar.sees(FINISHED)
        assert await kirim.oscar.count(LIVE) == 1, "one live message, before and after the crash"
        await kirim.oscar.taps(label("broadcasts.delivery.do_again", count=len(unknown)), message=live)
        await kirim.oscar.sees(like("broadcasts.delivery.count_delivered", count=READERS - BLOCKED))
        assert {*await count_messages(kirim, readers)} == set(readers) - blocked


async def test_many_refusals_slow_only_the_broadcast_and_operators_decide_once(tmp_path: Path) -> None:
    async with running_system(tmp_path, OPERATOR_IDS="2001,3001") as kirim:
        oscar, rina = kirim.oscar, kirim.rina
        emma = ChatUser(kirim.telegram, 1001)
        await oscar.says("/start")
        await rina.says("/start")
        _, order = await tap_to_invoice(kirim, emma)
        readers = await add_subscribers(kirim, READERS)
        for reader in readers[40:43]:
            await kirim.telegram_fails("429", "sendMessage", chat_id=reader, retry_after=LONGER_THAN_ALL_OTHERS_TAKE)
        broadcast = await add_confirmed_broadcast(kirim)
        await wait_until_reached(kirim, readers, 20)
        # Two operators press at once. One pauses the broadcast, and the other sees its status.
        live = await oscar.sees(IN_PROGRESS)
        pause = f"bd:{broadcast.id}:pause"
        await oscar.presses(live, pause)
        await oscar.sees(like("broadcasts.delivery.paused"))
        answer = await oscar.presses(live, pause, force=True)
        assert answer["text"] == label("broadcasts.delivery.nothing_changed")
        await kirim.telegram_fails("429", "sendMessage", retry_after=1, times=4)
        await oscar.taps(label("broadcasts.delivery.do_resume"))
        await oscar.sees(IN_PROGRESS)
        await found(kirim.calls, partial(were_refused, readers[40:43]), what="a refusal")
        await kirim.service.pays(order)
        await emma.sees(like("orders.notification.paid"))
        await complete_order(kirim, order)
        await emma.sees(like("orders.notification.sent_bank"))
        assert await oscar.count(FINISHED) == 0
        await kirim.stop_bot()
        await kirim.telegram_heals()
        await kirim.start_bot()
        assert await wait_for_report(kirim, broadcast) == {"delivered": READERS}
        assert set((await count_messages(kirim, readers)).values()) == {1}
        await oscar.sees(FINISHED)
        # Users who aren't operators can't use its buttons.
        stranger = await emma.presses((await emma.messages())[-1], f"bd:{broadcast.id}:show", force=True)
        assert stranger["text"] == label("users.stale.button")


def were_refused(readers: Sequence[int], calls: Iterable[Json]) -> bool:
    return any(call["error_code"] == TOO_MANY and call["chat_id"] in readers for call in calls)


async def test_what_was_previewed_arrives_with_its_picture_uploaded_once_for_each_language(tmp_path: Path) -> None:
    async with running_system(tmp_path) as kirim:
        oscar = kirim.oscar
        await oscar.says("/start")
        readers = await add_subscribers(kirim, 12)
        await oscar.says("/broadcast")
        await oscar.sees(like("broadcasts.no_picture"))
        await oscar.taps(label("broadcasts.picture"))
        await oscar.taps(label("broadcasts.chart.week"))
        await oscar.sees(like("broadcasts.with_chart.week"))
        await oscar.taps(label("broadcasts.preview"))
        question = await oscar.sees(like("broadcasts.confirm"))
        previews = [each for each in await oscar.messages() if "photo" in each]
        await oscar.taps(text("broadcasts.send", count=12), message=question)
        await oscar.sees(FINISHED)
        got = [(await ChatUser(kirim.telegram, reader).messages())[-1] for reader in readers]
        seen = {(text_of(each), each["photo"][-1]["file_id"]) for each in got}
        assert len(seen) == 2, "one text and one picture for each language"
        assert {text for text, _ in seen} == {text_of(each) for each in previews}
