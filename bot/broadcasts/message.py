"""One broadcast as one message: text, or picture with caption, with the buttons under it."""

from bot.broadcasts.model import Broadcast
from bot.broadcasts.rules import chart_of
from bot.broadcasts.screens.text import keyboard_of, text_of
from bot.infra.i18n import Translations, Translator
from bot.infra.telegram.outbound.sender import Messenger, Outcome
from bot.rates.charts import Charts
from bot.rates.history import Period


class BroadcastMessages:
    """Send broadcasts to operators who look at them."""

    def __init__(self, messenger: Messenger, translations: Translations, charts: Charts) -> None:
        self._messenger = messenger
        self._translations = translations
        self._charts = charts

    async def send(self, chat_id: int, broadcast: Broadcast, locale: str) -> Outcome:
        """Send a broadcast to one chat in one language, without a sound."""
        t = self._translations.get(locale)
        text, keyboard = text_of(broadcast, t), keyboard_of(t)
        picture = await draw_picture(broadcast, t, self._charts)
        if picture is None:
            return await self._messenger.send_text(chat_id, text, keyboard, lane="talk", silent=True)
        return await self._messenger.send_photo(chat_id, picture, text, keyboard, lane="talk", silent=True)


async def draw_picture(broadcast: Broadcast, t: Translator, charts: Charts) -> bytes | str | None:
    """Return its picture, if any: a photo's id, or a PNG of the rate up to its quote in the readers' language."""
    period = chart_of(broadcast)
    if period is None or broadcast.quote is None:
        return broadcast.picture
    return (await charts.of(t, Period(period), broadcast.quote)).png
