"""Support's group becomes a supergroup: from then on it has another id, and what is said there counts as before."""

from telegram import Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import SESSION


def handlers() -> list[Handler]:
    """What hears Telegram say so."""
    return [MessageHandler(filters.StatusUpdate.MIGRATE & filters.UpdateType.MESSAGE, _moved)]


async def _moved(update: Update, _: Context) -> None:
    """Only what is said in the group itself counts: another group's new id is nobody's business here."""
    message, desk = update.effective_message, SESSION.get().desk
    if message is not None and message.migrate_to_chat_id is not None:
        async with desk.store.reading() as tx:
            is_ours = message.chat_id == await desk.support_room.group(tx)
        if is_ours:
            await desk.ticket_room.moved(message.chat_id, message.migrate_to_chat_id)
    raise ApplicationHandlerStop
