"""The whole bot without its limits for sending, so that only the bot's own time is measured."""

from bot import __main__, app
from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outbound.pace import UNLIMITED, Limits


def _unlimited(_limits: Limits) -> SendLimiter:
    return SendLimiter(UNLIMITED)


if __name__ == "__main__":
    app.SendLimiter = _unlimited  # type: ignore[attr-defined,assignment]
    __main__.cli()
