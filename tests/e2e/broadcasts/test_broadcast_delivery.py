"""Running broadcasts: killed in the middle, with blocked users and refusals, and with two operators."""

from pathlib import Path

from tests.e2e.broadcasts.subscribers import (
    add_confirmed_broadcast,
    add_subscribers,
    count_messages,
    count_subscribed,
    find_unknown,
    wait_for_live_message,
    wait_for_report,
)
from tests.e2e.chat_user import ChatUser
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.system import running_system
from tests.texts import label, like

READERS, BLOCKED = 160, 8
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
