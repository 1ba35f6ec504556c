"""A bot that keeps sessions that are of no use, as one with another driver could. A minute is a second for it."""

from unittest.mock import patch

import bot.__main__
from bot.infra.db import engine, write_watch


def main() -> None:
    """Run the bot."""
    with (
        patch.object(engine, "UNUSABLE", frozenset()),
        patch.multiple(write_watch, TRY_SECONDS=0.2, STUCK_SECONDS=1.0),
    ):
        bot.__main__.main()
