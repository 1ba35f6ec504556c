"""The holder's name, which is never required."""

from collections.abc import Mapping
from dataclasses import replace

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens import holder as screens
from bot.checkout.steps.handler import TakeAnswer
from bot.infra.telegram.ui.screen import Screen
from bot.recipients.holders import read_holder
from bot.users.session import Session


class HolderStep:
    """Ask for the holder's name."""

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {DraftAction.SKIP: self._skip}

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        return screens.screen(session.t, draft)

    async def take_typed(self, _: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed name."""
        return _with(draft, read_holder(text))

    async def _skip(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Go on without a name."""
        return _with(draft, None)


def _with(draft: OrderDraft, holder: str | None) -> OrderDraft:
    asked = replace(draft, holder=holder, holder_asked=True)
    return replace(asked, step=missing(asked))
