"""The question how to pay: with Lightning, or a token that the service accepts now."""

from collections.abc import Sequence

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.screens.formatting import format_channel


def screen(t: Translator, draft: OrderDraft, channels: Sequence[str]) -> Screen:
    """Return the ways to pay, with the chosen one marked."""
    rows = tuple(
        (
            Button(
                ("● " if name == draft.channel else "") + format_channel(t, name),
                data=draft_data(draft, DraftAction.CHANNEL, name),
            ),
        )
        for name in channels
    )
    return Screen(t("payments.channel.ask"), (*rows, leave_row(t, draft)))
