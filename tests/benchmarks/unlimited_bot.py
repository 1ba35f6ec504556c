"""The whole bot, unmodified but for Telegram's limits on sending: what is left is the bot's own time."""

from bot import __main__, app
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outbound.pace import UNLIMITED, Limits


def _unlimited(_limits: Limits) -> SendLimiter:
    return SendLimiter(UNLIMITED)


if __name__ == "__main__":
    app.SendLimiter = _unlimited  # type: ignore[attr-defined,assignment]
    __main__.cli()
