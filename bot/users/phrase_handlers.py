"""The phrase of one's own: `/phrase`, and the buttons that choose or change it, at any point of any conversation.

It is kept with the person alone and shown here, on their invoices and on their receipts; never to anybody else.
"""

from dataclasses import replace

from telegram import Update
from telegram.ext import (
    ApplicationHandlerStop,
    CallbackQueryHandler,
    CommandHandler,
)

from bot.core.errors import Rejection
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.users.phrase import clean_phrase, suggested
from bot.users.repository import UserRepository
from bot.users.screens import phrase

QUESTION = "phrase"


def handlers() -> list[Handler]:
    """The command and the buttons."""
    return [
        CommandHandler("phrase", _command, filters=PRIVATE),
        CallbackQueryHandler(_pressed, pattern=data.PHRASE_PATTERN),
    ]


async def _command(_: Update, __: Context) -> None:
    visit = SESSION.get()
    await visit.say(visit.with_resume(await _shown(visit)))
    raise ApplicationHandlerStop


async def _pressed(update: Update, _: Context) -> None:
    visit = SESSION.get()
    query = update.callback_query
    action, code = data.read_phrase_press((query.data or "") if query else "")
    await visit.acknowledge()
    if action == "own":
        await questions.ask(visit, QUESTION, phrase.own(visit.t))
    elif action == "use":
        await _use(visit, suggested(code))
    else:
        another = await _offered(visit, is_new=True) if action == "new" else await _shown(visit)
        await visit.show(visit.with_resume(another))
    raise ApplicationHandlerStop


async def typed(visit: Session, _: str, text: str) -> None:
    """Words of the person's own, or the reason why not these and the question again."""
    try:
        chosen = clean_phrase(text)
    except Rejection as rejection:
        visit.notice = visit.t.tell(rejection)
        await visit.show(phrase.own(visit.t))
        return
    questions.answered(visit)
    await _keep(visit, chosen)


async def _use(visit: Session, chosen: str | None) -> None:
    if chosen is None:
        await visit.explain("stale.button")
    else:
        await _keep(visit, chosen)


async def _keep(visit: Session, chosen: str) -> None:
    visit.person = replace(visit.person, phrase=chosen, suggestion=None)
    async with visit.desk.store.transaction() as tx:
        await UserRepository(tx).save(visit.person)
    await visit.show(visit.with_resume(phrase.kept(visit.t, chosen)))


async def _shown(visit: Session) -> Screen:
    """The person's phrase; where they have none, a suggestion."""
    return await _offered(visit) if visit.person.phrase is None else phrase.mine(visit.t, visit.person.phrase)


async def _offered(visit: Session, *, is_new: bool = False) -> Screen:
    suggestion = await visit.suggestion(is_new=is_new)
    return phrase.offer(visit.t, suggestion, has_one=visit.person.phrase is not None)
