"""The sandbox's Telegram keeps its state between starts, and loses nothing that was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, SARI, running

if TYPE_CHECKING:
    from pathlib import Path

BUTTON = {"inline_keyboard": [[{"text": "x", "callback_data": "y"}]]}


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "telegram.sqlite3"
    async with running(state_path=state) as server:
        await server.says(EMMA, "/start")
        sent = (await server.calls("sendMessage", chat_id=EMMA, text="x", reply_markup=BUTTON)).json()["result"]
        document = (await server.bot.send_document(EMMA, b"kept")).document
        pressed = await server.presses(EMMA, sent["message_id"], "y")
        topic = await server.bot.create_forum_topic(SUPPORT_GROUP_ID, "Ticket")
        await server.bot.set_my_commands([("send", "Send rupiah")])
        await server.people.patch(f"/sandbox/people/{SARI}", json={"language_code": "en"})
        updates = await server.hears(offset=0)
        await server.hears(offset=updates[0]["update_id"] + 1)
        before, state_before = await server.sees(EMMA), (await server.people.get("/sandbox/state")).json()
    assert document is not None
    async with running(state_path=state) as server:
        after, state_after = await server.sees(EMMA), (await server.people.get("/sandbox/state")).json()
        pending = await server.hears()
        kept = await server.people.get(f"/sandbox/files/{document.file_id}")
        answered = await server.calls("answerCallbackQuery", callback_query_id=pressed["query_id"])
        place = {"chat_id": SUPPORT_GROUP_ID, "message_thread_id": topic.message_thread_id}
        in_topic = await server.calls("sendMessage", **place, text="still open")
        sent_message = await server.says(OSCAR, "next", SUPPORT_GROUP_ID)
        newer = await server.hears(offset=pending[-1]["update_id"] + 1)
        commands = await server.bot.get_my_commands()
    async with running(state_path=state) as server:
        state_later = (await server.people.get("/sandbox/state")).json()
    assert state_later["people"] == state_before["people"]
    assert after == before
    assert state_after["seq"] > state_before["seq"]
    assert {**state_after, "seq": 0} == {**state_before, "seq": 0}
    assert pending == updates[1:]
    assert kept.content == b"kept"
    assert answered.json()["ok"] is in_topic.json()["ok"] is True
    assert sent_message["message_id"] == in_topic.json()["result"]["message_id"] + 1
    assert newer[0]["update_id"] > pending[-1]["update_id"] + 1, "a number may be lost by a kill, and comes never twice"
    assert [command.command for command in commands] == ["send"]


async def test_a_kill_before_the_first_message_is_saved_gives_no_number_twice(tmp_path: Path) -> None:
    """The bot would ignore the next update, as one that it knows."""

    async def numbers(state: Path) -> tuple[int, ...]:
        async with running(state_path=state) as server:
            said, in_group = await server.says(EMMA, "a"), await server.says(OSCAR, "b", SUPPORT_GROUP_ID)
            return (await server.hears())[0]["update_id"], said["message_id"], in_group["message_id"]

    async with running(state_path=tmp_path / "as-the-kill-left-it.sqlite3"):
        pass
    lost = await numbers(tmp_path / "lost.sqlite3")
    given = await numbers(tmp_path / "as-the-kill-left-it.sqlite3")
    assert all(new > old for new, old in zip(given, lost, strict=True)), (given, lost)
