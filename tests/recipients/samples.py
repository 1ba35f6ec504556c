"""Values of saved recipients, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from bot.recipients import screens
from bot.recipients.model import SavedRecipient
from tests.recipients.builders import a_long_recipient
from tests.screens import Outside


def some_recipients(outside: Outside) -> tuple[SavedRecipient, ...]:
    """Return recipients with and without a holder and a name of the user's."""
    full = a_long_recipient(outside.method)
    return (
        replace(full, label="<b>Ibu</b> 🙂" * 4),
        full,
        replace(full, holder=None),
        replace(full, label=outside.typed[:40]),
    )


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    SavedRecipient: some_recipients,
    Sequence[SavedRecipient]: lambda outside: ((), some_recipients(outside), some_recipients(outside) * 3),
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    (screens.show_recipient, "recipient"): lambda recipient, _: (recipient.number,),
    (screens.ask_deletion, "recipient"): lambda recipient, _: (recipient.number[-4:],),
}
