"""A user whose messages can't reach the staff's group yet is told to wait, and all of them are saved."""

from pathlib import Path

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from bot.support.service import MAX_WAITING
from tests.chat.system import running_in_process
from tests.e2e.new_users import new_user
from tests.e2e.support.cards import support_group
from tests.texts import label, like


async def test_a_user_whose_messages_wait_is_told_to_wait_once(tmp_path: Path) -> None:
    async with running_in_process(tmp_path) as kirim:
        emma = await new_user(kirim)
        await emma.says("/help")
        await emma.taps(label("support.button.write_to_us"))
        await emma.sees(like("support.ticket.what_is_wrong"))
        await emma.says("My receipt is gone")
        opened = await emma.sees(like("support.ticket.is_open"))
        await support_group(kirim).sees("My receipt is gone", anywhere=True)
        await kirim.telegram_fails("429", "sendMessage", chat_id=SUPPORT_GROUP_ID, retry_after=60)
        for number in range(MAX_WAITING + 3):
            await emma.says(f"Hello {number}", reply_to=opened)
        await emma.sees_times(1, like("support.ticket.wait", count=MAX_WAITING))
