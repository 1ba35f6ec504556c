"""One broadcast as one message, sent: text, or picture with caption, with the buttons under it."""

from bot.broadcasts.model import Broadcast
from bot.broadcasts.rules import chart_of
from bot.broadcasts.screens.text import keyboard_of, text_of
from bot.infra.i18n import Translator
from bot.infra.telegram.outbound.sender import Lane, Outcome
from bot.infra.telegram.ui.session import Desk
from bot.rates.charts import Charts
from bot.rates.history import Period


async def picture_of(broadcast: Broadcast, t: Translator, charts: Charts) -> bytes | str | None:
    """Its picture: a PNG of the rate up to its quote, in the readers' language, or a photo's id; None without one."""
    period = chart_of(broadcast)
    if period is None or broadcast.quote is None:
        return broadcast.picture
    return (await charts.of(t, Period(period), broadcast.quote)).png


async def send_broadcast(
    desk: Desk, chat_id: int, broadcast: Broadcast, t: Translator, *, lane: Lane, silent: bool = False
) -> Outcome:
    """Send it to one chat in the language of `t`."""
    text, keyboard = text_of(broadcast, t), keyboard_of(t)
    picture = await picture_of(broadcast, t, desk.charts)
    if picture is None:
        return await desk.messenger.send_text(chat_id, text, keyboard, lane=lane, silent=silent)
    return await desk.messenger.send_photo(chat_id, picture, text, keyboard, lane=lane, silent=silent)
