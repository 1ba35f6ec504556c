"""The people one has sent to: `/recipients`, and the buttons under them, at any point of any conversation.

A button bears the recipient's id, which nobody can guess, and works for whose recipient it is alone. A draft that is
open goes on behind all this.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Update
from telegram.ext import (
    ApplicationHandlerStop,
    CallbackQueryHandler,
    CommandHandler,
)

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.recipients import screens as recipients
from bot.recipients.holders import read_holder
from bot.recipients.model import SavedRecipient
from bot.recipients.saved import MOST_NAMED, TooManyNamed
from bot.users.repository import UserRepository

NAME: Final = "recipient_name"
HOLDER: Final = "recipient_holder"

RecipientAction = Callable[[Session, SavedRecipient], Awaitable[None]]


def handlers(send: RecipientAction) -> list[Handler]:
    """Return the handlers of the command, of the pages of the list, and of the buttons of one recipient.

    `send` starts an order for a recipient.
    """
    actions = {**ACTIONS, "send": send}

    async def pressed(update: Update, _: Context) -> None:
        await _pressed(update, actions)

    return [
        CommandHandler("recipients", _command, filters=PRIVATE),
        CallbackQueryHandler(_turned, pattern=data.RECIPIENTS_PATTERN),
        CallbackQueryHandler(pressed, pattern=data.RECIPIENT_PATTERN),
    ]


async def _command(_: Update, __: Context) -> None:
    visit = SESSION.get()
    visit.message_id = None
    await _list(visit)
    raise ApplicationHandlerStop


async def _turned(update: Update, _: Context) -> None:
    visit = SESSION.get()
    query = update.callback_query
    await visit.acknowledge()
    await _list(visit, data.read_page_of_recipients((query.data or "") if query else ""))
    raise ApplicationHandlerStop


async def _pressed(update: Update, actions: Mapping[str, RecipientAction]) -> None:
    """Find the recipient, see that it is this person's, and do what the button says."""
    visit = SESSION.get()
    query = update.callback_query
    press = data.read_recipient_press((query.data or "") if query else "")
    if press is not None:
        recipient = await visit.desk.recipients.get(visit.person.id, press[0])
        action = actions.get(press[1])
        if recipient is None:
            await _gone(visit)
        elif action is None:
            await visit.acknowledge(visit.t.plain("stale.button"))
            await _page(visit, recipient)
        else:
            await visit.acknowledge()
            await action(visit, recipient)
    raise ApplicationHandlerStop


async def _list(visit: Session, page: int = 0) -> None:
    known = await visit.desk.recipients.of(visit.person.id)
    await visit.show(visit.with_resume(recipients.screen(visit.t, known, page)))


async def _page(visit: Session, recipient: SavedRecipient) -> None:
    screen = recipients.page(visit.t, recipient, visit.desk.clock.now())
    await visit.show(visit.with_resume(screen))


async def _gone(visit: Session) -> None:
    """Deleted, or never this person's: which of both is nobody's business."""
    await visit.acknowledge(visit.t.plain("recipient.gone"))
    visit.notice = visit.t("recipient.gone")
    await _list(visit)


async def _save(visit: Session, recipient: SavedRecipient) -> None:
    """The same from under an order's news, which must not be written over."""
    visit.message_id = None
    await _ask_name(visit, recipient)


async def _ask_name(visit: Session, recipient: SavedRecipient) -> None:
    await questions.ask(visit, NAME, recipients.naming(visit.t, recipient), recipient.id)


async def _ask_holder(visit: Session, recipient: SavedRecipient) -> None:
    await questions.ask(visit, HOLDER, recipients.holding(visit.t, recipient), recipient.id)


async def _ask_delete(visit: Session, recipient: SavedRecipient) -> None:
    await visit.show(recipients.deleting(visit.t, recipient))


async def _unname(visit: Session, recipient: SavedRecipient) -> None:
    changed = await visit.desk.recipients.name(visit.person, recipient.id, None)
    await _changed(visit, changed, visit.t("recipient.unnamed"))


async def _unhold(visit: Session, recipient: SavedRecipient) -> None:
    changed = await visit.desk.recipients.hold(visit.person, recipient.id, None)
    await _changed(visit, changed, visit.t("recipient.held"))


async def _forget(visit: Session, recipient: SavedRecipient) -> None:
    await visit.desk.recipients.delete(visit.person.id, recipient.id)
    visit.notice = visit.t("recipient.deleted")
    await _list(visit)


async def name_typed(visit: Session, recipient_id: str, text: str) -> None:
    """The answer to what a recipient is to be called."""
    try:
        label = recipients.clean_label(text)
        changed = await visit.desk.recipients.name(questions.answered(visit), recipient_id, label)
    except Rejection as rejection:
        await _ask_again(visit, recipient_id, rejection, recipients.naming)
    except TooManyNamed:
        await _ask_again(visit, recipient_id, Rejection("recipient.too_many", most=MOST_NAMED), recipients.naming)
    else:
        said = visit.t("recipient.unnamed") if label is None else visit.t("recipient.named", label=label)
        await _changed(visit, changed, said)


async def holder_typed(visit: Session, recipient_id: str, text: str) -> None:
    """The answer to whose account it is."""
    try:
        holder = read_holder(text)
    except Rejection as rejection:
        await _ask_again(visit, recipient_id, rejection, recipients.holding)
    else:
        changed = await visit.desk.recipients.hold(questions.answered(visit), recipient_id, holder)
        await _changed(visit, changed, visit.t("recipient.held"))


async def _ask_again(
    visit: Session, recipient_id: str, rejection: Rejection, screen: Callable[[Translator, SavedRecipient], Screen]
) -> None:
    """Say why, and ask again; the question is still open, so there's nothing to save."""
    recipient = await visit.desk.recipients.get(visit.person.id, recipient_id)
    if recipient is None:
        async with visit.desk.store.transaction() as tx:
            await UserRepository(tx).save(questions.answered(visit))
        await _gone(visit)
        return
    visit.notice = visit.t.tell(rejection)
    await visit.show(screen(visit.t, recipient))


async def _changed(visit: Session, recipient: SavedRecipient | None, said: Html) -> None:
    if recipient is None:
        await _gone(visit)
        return
    visit.notice = said
    await _page(visit, recipient)


ACTIONS: Mapping[str, RecipientAction] = {
    "page": _page,
    "save": _save,
    "name": _ask_name,
    "unname": _unname,
    "holder": _ask_holder,
    "unhold": _unhold,
    "delete": _ask_delete,
    "forget": _forget,
}
