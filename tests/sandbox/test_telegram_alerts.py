"""The second bot of the sandbox writes to the same chats. The first bot doesn't notice."""

import httpx

from bot.sandbox.telegram import ALERT_BOT_TOKEN, SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import OSCAR, Running, running


async def test_the_second_bot_writes_to_a_user_and_a_group_and_the_first_gets_no_update() -> None:
    async with running() as server:
        await server.posts(f"/sandbox/chats/{OSCAR}/send", {"from": OSCAR, "text": "/start"})
        started = await server.hears()
        for chat in (OSCAR, SUPPORT_GROUP_ID):
            answer = await _call(server, "sendMessage", chat_id=chat, text="Alert")
            assert answer.is_success, answer.text
            newest = (await server.sees(chat))[-1]
            assert (newest["from"]["username"], newest["text"]) == ("kirim_alerts_sandbox_bot", "Alert")
        assert await server.hears() == started


async def test_the_second_bot_can_do_nothing_else() -> None:
    async with running() as server:
        assert (await _call(server, "getUpdates")).status_code == 401
        refused = await _call(server, "sendMessage", chat_id=OSCAR, text="")
        assert (refused.status_code, refused.json()["ok"]) == (400, False)
        refused = await _call(server, "sendMessage", chat_id=OSCAR, text="Not started")
        assert refused.status_code == 403


async def _call(server: Running, method: str, **params: object) -> httpx.Response:
    return await server.people.post(f"/bot{ALERT_BOT_TOKEN}/{method}", json=params)
