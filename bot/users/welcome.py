"""Make the start: the welcome, or for members of staff what features show them. Their help is read in the same way."""

from collections.abc import Sequence

from bot.infra.telegram.ui.screen import Screen
from bot.users.screens import start
from bot.users.session import Session


async def make_welcome(session: Session) -> Screen:
    """Return the start of members of staff, or the welcome of everyone else."""
    readers = [feature.read_staff_start for feature in session.infra.features if feature.read_staff_start is not None]
    parts = [part for read in readers if (part := await read(session)) is not None]
    if parts:
        return start.show_staff_start(session.t, parts)
    buttons = [make(session.t) for feature in session.infra.features for make in feature.start_buttons]
    for feature in session.infra.features:
        if feature.read_welcome_facts is not None:
            return start.show_welcome(session.t, await feature.read_welcome_facts(session.t), buttons)
    return start.show_welcome(session.t, buttons=buttons)


async def read_staff_help(session: Session) -> Sequence[Screen]:
    """Return the parts of the help for members of staff. Everyone else has none."""
    readers = [feature.read_staff_help for feature in session.infra.features if feature.read_staff_help is not None]
    return [part for read in readers if (part := await read(session)) is not None]
