"""The holder's name: welcome, and never required."""

from dataclasses import replace

from bot.checkout.draft import OrderDraft, missing
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.infra.i18n import Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Pressed, Said, Session
from bot.orders.screens import phrases as words
from bot.recipients.holders import clean_holder


def screen(t: Translator, draft: OrderDraft) -> Screen:
    """The question, with the cleaned number shown back."""
    skip = Button(t.plain("holder.skip"), data=data.for_draft(draft, "skip"))
    known = replace(draft, holder=None)
    return Screen(t("holder.ask", recipient=words.recipient(t, known)), ((skip,), leave_row(t, draft)))


async def show(visit: Session, draft: OrderDraft) -> Screen:
    """The question."""
    return screen(visit.t, draft)


async def answer(visit: Session, draft: OrderDraft, said: Said) -> OrderDraft | Screen:  # noqa: ARG001  screens answer alike
    """A name, or none."""
    if isinstance(said, Pressed) and said.action != "skip":
        raise Rejection("stale.button")
    draft = replace(draft, holder=None if isinstance(said, Pressed) else read_holder(said.text), holder_asked=True)
    return replace(draft, ask=missing(draft))


def read_holder(text: str) -> str:
    """The name that was typed; raises `Rejection`."""
    holder = clean_holder(text)
    if holder is None:  # invisible characters only: that's not how anybody skips a question
        raise Rejection("holder.not_a_name")
    return holder
