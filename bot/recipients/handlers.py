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
    session = SESSION.get()
    session.message_id = None
    await _list(session)
    raise ApplicationHandlerStop


async def _turned(update: Update, _: Context) -> None:
    session = SESSION.get()
    query = update.callback_query
    await session.acknowledge()
    await _list(session, data.read_page_of_recipients((query.data or "") if query else ""))
    raise ApplicationHandlerStop


async def _pressed(update: Update, actions: Mapping[str, RecipientAction]) -> None:
    """Find the recipient, see that it is this person's, and do what the button says."""
    session = SESSION.get()
    query = update.callback_query
    press = data.read_recipient_press((query.data or "") if query else "")
    if press is not None:
        recipient = await session.desk.recipients.get(session.person.id, press[0])
        action = actions.get(press[1])
        if recipient is None:
            await _gone(session)
        elif action is None:
            await session.acknowledge(session.t.plain("stale.button"))
            await _page(session, recipient)
        else:
            await session.acknowledge()
            await action(session, recipient)
    raise ApplicationHandlerStop


async def _list(session: Session, page: int = 0) -> None:
    known = await session.desk.recipients.of(session.person.id)
    await session.show(session.with_resume(recipients.screen(session.t, known, page)))


async def _page(session: Session, recipient: SavedRecipient) -> None:
    screen = recipients.page(session.t, recipient, session.desk.clock.now())
    await session.show(session.with_resume(screen))


async def _gone(session: Session) -> None:
    """Deleted, or never this person's: which of both is nobody's business."""
    await session.acknowledge(session.t.plain("recipient.gone"))
    session.notice = session.t("recipient.gone")
    await _list(session)


async def _save(session: Session, recipient: SavedRecipient) -> None:
    """The same from under an order's news, which must not be written over."""
    session.message_id = None
    await _ask_name(session, recipient)


async def _ask_name(session: Session, recipient: SavedRecipient) -> None:
    await questions.ask(session, NAME, recipients.naming(session.t, recipient), recipient.id)


async def _ask_holder(session: Session, recipient: SavedRecipient) -> None:
    await questions.ask(session, HOLDER, recipients.holding(session.t, recipient), recipient.id)


async def _ask_delete(session: Session, recipient: SavedRecipient) -> None:
    await session.show(recipients.deleting(session.t, recipient))


async def _unname(session: Session, recipient: SavedRecipient) -> None:
    changed = await session.desk.recipients.name(session.person, recipient.id, None)
    await _changed(session, changed, session.t("recipient.unnamed"))


async def _unhold(session: Session, recipient: SavedRecipient) -> None:
    changed = await session.desk.recipients.hold(session.person, recipient.id, None)
    await _changed(session, changed, session.t("recipient.held"))


async def _forget(session: Session, recipient: SavedRecipient) -> None:
    await session.desk.recipients.delete(session.person.id, recipient.id)
    session.notice = session.t("recipient.deleted")
    await _list(session)


async def name_typed(session: Session, recipient_id: str, text: str) -> None:
    """The answer to what a recipient is to be called."""
    try:
        label = recipients.clean_label(text)
        changed = await session.desk.recipients.name(questions.answered(session), recipient_id, label)
    except Rejection as rejection:
        await _ask_again(session, recipient_id, rejection, recipients.naming)
    except TooManyNamed:
        await _ask_again(session, recipient_id, Rejection("recipient.too_many", most=MOST_NAMED), recipients.naming)
    else:
        said = session.t("recipient.unnamed") if label is None else session.t("recipient.named", label=label)
        await _changed(session, changed, said)


async def holder_typed(session: Session, recipient_id: str, text: str) -> None:
    """The answer to whose account it is."""
    try:
        holder = read_holder(text)
    except Rejection as rejection:
        await _ask_again(session, recipient_id, rejection, recipients.holding)
    else:
        changed = await session.desk.recipients.hold(questions.answered(session), recipient_id, holder)
        await _changed(session, changed, session.t("recipient.held"))


async def _ask_again(
    session: Session, recipient_id: str, rejection: Rejection, screen: Callable[[Translator, SavedRecipient], Screen]
) -> None:
    """Say why, and ask again; the question is still open, so there's nothing to save."""
    recipient = await session.desk.recipients.get(session.person.id, recipient_id)
    if recipient is None:
        async with session.desk.store.transaction() as tx:
            await UserRepository(tx).save(questions.answered(session))
        await _gone(session)
        return
    session.notice = session.t.tell(rejection)
    await session.show(screen(session.t, recipient))


async def _changed(session: Session, recipient: SavedRecipient | None, said: Html) -> None:
    if recipient is None:
        await _gone(session)
        return
    session.notice = said
    await _page(session, recipient)


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
