"""One broadcast as one message, sent: text, or picture with caption, with the buttons under it."""

from bot.actions.broadcast_rules import chart_of
from bot.actions.ports import Broadcast
from bot.chat.charts import Charts
from bot.chat.desk import Desk
from bot.chat.messenger import Lane, Outcome
from bot.chat.screens.broadcast_text import keyboard_of, text_of
from bot.domain.rate_history import Period
from bot.i18n import Translator


class BroadcastPictures:
    """Draws the pictures of broadcasts that have one drawn."""

    def __init__(self, charts: Charts) -> None:
        self._charts = charts

    async def draw(self, broadcast: Broadcast, t: Translator) -> bytes | None:
        """The rate's chart up to the broadcast's quote, in the readers' language; None where it has none."""
        period = chart_of(broadcast)
        if period is None or broadcast.quote is None:
            return None
        return (await self._charts.of(t, Period(period), broadcast.quote)).png


async def send_broadcast(
    desk: Desk, chat_id: int, broadcast: Broadcast, t: Translator, *, lane: Lane, silent: bool = False
) -> Outcome:
    """Send it to one chat in the language of `t`."""
    text, keyboard = text_of(broadcast, t), keyboard_of(t)
    is_drawn = chart_of(broadcast) is not None
    picture = await BroadcastPictures(desk.charts).draw(broadcast, t) if is_drawn else broadcast.picture
    if picture is None:
        return await desk.messenger.send_text(chat_id, text, keyboard, lane=lane, silent=silent)
    return await desk.messenger.send_photo(chat_id, picture, text, keyboard, lane=lane, silent=silent)
