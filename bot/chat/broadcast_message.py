"""One broadcast as one message, sent: text, or picture with caption, with the buttons under it."""

from bot.actions.broadcast_rules import chart_of
from bot.actions.ports import Broadcast
from bot.chat.desk import Desk
from bot.chat.messenger import Lane, Outcome
from bot.chat.screens.broadcast_text import keyboard_of, text_of
from bot.i18n import Translator


async def send_broadcast(
    desk: Desk, chat_id: int, broadcast: Broadcast, t: Translator, *, lane: Lane, silent: bool = False
) -> Outcome:
    """Send it to one chat in the language of `t`."""
    text, keyboard = text_of(broadcast, t), keyboard_of(t)
    if broadcast.picture is None or chart_of(broadcast) is not None:
        return await desk.messenger.send_text(chat_id, text, keyboard, lane=lane, silent=silent)
    return await desk.messenger.send_photo(chat_id, broadcast.picture, text, keyboard, lane=lane, silent=silent)
