"""The holder's name: welcome, and never required."""

from dataclasses import replace

from bot.chat import data
from bot.chat.desk import Pressed, Said, Visit
from bot.chat.screen import Button, Screen
from bot.chat.screens.parts import leave_row
from bot.domain.draft import OrderDraft, missing
from bot.domain.errors import Rejection
from bot.domain.payout import clean_holder, display_name
from bot.i18n import Translator


def screen(t: Translator, draft: OrderDraft) -> Screen:
    """The question, with the cleaned number shown back."""
    skip = Button(t.plain("holder.skip"), data=data.for_draft(draft, "skip"))
    name = display_name(draft.method) if draft.method else ""
    return Screen(t("holder.ask", name=name, number=draft.number or ""), ((skip,), leave_row(t, draft)))


async def show(visit: Visit, draft: OrderDraft) -> Screen:
    """The question."""
    return screen(visit.t, draft)


async def answer(visit: Visit, draft: OrderDraft, said: Said) -> OrderDraft | Screen:  # noqa: ARG001  screens answer alike
    """A name, or none."""
    if isinstance(said, Pressed) and said.action != "skip":
        raise Rejection("stale.button")
    holder = None if isinstance(said, Pressed) else clean_holder(said.text)
    draft = replace(draft, holder=holder, holder_asked=True)
    return replace(draft, ask=missing(draft))
