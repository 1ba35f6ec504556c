"""The skeleton on python-telegram-bot alone, as a process: `python -m tests.benchmarks.plain_bot ADDRESS [CONCURRENT]`.

It uses python-telegram-bot's updater and HTTPXRequest, without inbox or limiter, and imports nothing of Kirim.
"""

import signal
import sys

from telegram.ext import Application

from tests.benchmarks import skeleton


def main(address: str, concurrent: str = "0") -> None:
    """Run until SIGTERM, as python-telegram-bot's own examples do."""
    builder = Application.builder().token(skeleton.TOKEN).base_url(f"{address}/bot")
    application = builder.concurrent_updates(int(concurrent) or False).build()
    skeleton.with_conversation(application, 0).run_polling(stop_signals=[signal.SIGTERM])


if __name__ == "__main__":
    main(*sys.argv[1:])
