"""The holder's name: welcome, and never required."""

from dataclasses import replace

from bot.checkout.draft import OrderDraft
from bot.checkout.flow import missing
from bot.checkout.screens.formatting import format_recipient_line
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.recipients.holders import read_holder


def screen(t: Translator, draft: OrderDraft) -> Screen:
    """The question, with the cleaned number shown back."""
    skip = Button(t.plain("holder.skip"), data=data.for_draft(draft, "skip"))
    known = replace(draft, holder=None)
    return Screen(t("holder.ask", recipient=format_recipient_line(t, known)), ((skip,), leave_row(t, draft)))


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The question."""
    return screen(session.t, draft)


async def take_typed(_: Session, draft: OrderDraft, text: str) -> OrderDraft:
    """Take the typed name."""
    return _with(draft, read_holder(text))


async def skip(_: Session, draft: OrderDraft, __: str) -> OrderDraft:
    """Go on without a name."""
    return _with(draft, None)


def _with(draft: OrderDraft, holder: str | None) -> OrderDraft:
    asked = replace(draft, holder=holder, holder_asked=True)
    return replace(asked, ask=missing(asked))
