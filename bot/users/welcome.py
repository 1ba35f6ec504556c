"""Make the welcome: what Kirim is, and what a feature above adds to it."""

from bot.infra.telegram.ui.screen import Screen
from bot.users.screens import start
from bot.users.session import Session


async def make_welcome(session: Session) -> Screen:
    """Return the welcome."""
    for feature in session.infra.features:
        if feature.read_welcome_facts is not None:
            return start.show_welcome(session.t, await feature.read_welcome_facts(session.t))
    return start.show_welcome(session.t)
