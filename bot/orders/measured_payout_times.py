"""How long transfers take, as far as the bot's own orders show it."""

from datetime import datetime

from bot.core.clock import Clock
from bot.core.sample_size import SAMPLE_PERIOD
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Html, Translator
from bot.orders.measured import Measured
from bot.orders.payout_time_repository import PayoutTimeRepository
from bot.orders.payout_times import PayoutTimes


class MeasuredTimes(Measured[PayoutTimes]):
    """Measures orders that were sent."""

    def __init__(self, store: Database, clock: Clock) -> None:
        super().__init__(store, clock, _times)


def in_words(t: Translator, times: PayoutTimes) -> Html:
    """Return the sentence for the chat and the wallet page. Times are rounded up, so that nobody waits for longer."""
    median, slow, days = t.within(times.median), t.within(times.slow), SAMPLE_PERIOD.days
    if median == slow:
        return t("help.measured_alike", days=days, slow=slow)
    return t("help.measured", days=days, median=median, slow=slow)


async def _times(tx: Transaction, since: datetime, until: datetime) -> PayoutTimes | None:
    times = await PayoutTimeRepository(tx).between(since, until)
    return times if times is not None and times.is_telling else None
