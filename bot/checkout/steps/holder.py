"""The holder's name, which is never required."""

from collections.abc import Mapping
from dataclasses import replace

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens.formatting import format_recipient_line, text_key
from bot.checkout.screens.parts import leave_row
from bot.checkout.steps.handler import TakeAnswer
from bot.core.errors import Rejection
from bot.core.money import Amount, AmountRejected, ForeignCurrency, parse_amount
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
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
        return show_question(session.t, draft)

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft:
        """Take the typed name, or that there is none.

        Raises:
            Rejection: those of `read_holder`. A text with a sum in it is no name.
        """
        if _skips(session, text):
            return with_holder(draft, None)
        return with_holder(draft, read_name(text))

    async def _skip(self, _: Session, draft: OrderDraft, __: str) -> OrderDraft:
        """Go on without a name."""
        return with_holder(draft, None)


def read_name(text: str) -> str:
    """Return the typed name.

    Raises:
        Rejection: those of `read_holder`. A text with a sum in it is no name.
    """
    if any(map(_is_sum, text.split())):
        raise Rejection("recipients.holder.not_a_name")
    return read_holder(text)


def _skips(session: Session, text: str) -> bool:
    """Return whether the text is the button's, or nothing but a dash."""
    return text.strip().casefold() in {session.t.plain("checkout.holder.skip").casefold(), "-"}


def _is_sum(word: str) -> bool:
    """Return whether the word is clearly a sum ("750rb"). A small number may be part of a name ("Toko 88")."""
    try:
        return any(map(str.isdecimal, word)) and isinstance(parse_amount(word), Amount)
    except ForeignCurrency:
        return True
    except AmountRejected:
        return False


def with_holder(draft: OrderDraft, holder: str | None) -> OrderDraft:
    """Return the draft with the name, or without one."""
    asked = replace(draft, holder=holder, holder_asked=True)
    return replace(asked, step=missing(asked))


def show_question(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question, with the cleaned number. For a payment request, it can't be skipped."""
    skip = Button(t.plain("checkout.holder.skip"), data=draft_data(draft, DraftAction.SKIP))
    asked = t(text_key(draft, "checkout.holder.ask"), recipient=format_recipient_line(t, replace(draft, holder=None)))
    return Screen(asked, ((skip,), leave_row(t, draft)) if draft.terms is None else (leave_row(t, draft),))
