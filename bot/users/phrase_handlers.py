"""The phrase of one's own: `/phrase`, and the buttons that choose or change it, at any point of any conversation.

It is kept with the person alone and shown here, on their invoices and on their receipts; never to anybody else.
"""

from dataclasses import replace

from bot.core.errors import Rejection
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.users.buttons import PhraseAction, PhraseButton
from bot.users.phrase import clean_phrase, suggested
from bot.users.repository import UserRepository
from bot.users.screens import phrase

QUESTION = "phrase"


routes = Routes[Session]()


@routes.command("phrase")
async def show_phrase(session: Session, _: str) -> None:
    """Show the user's phrase, or suggest one."""
    await session.say(session.with_resume(await _shown(session)))


@routes.button(PhraseButton)
async def phrase_button(session: Session, button: PhraseButton) -> None:
    """Do what a button of the phrase says."""
    await session.acknowledge()
    if button.action is PhraseAction.OWN:
        await questions.ask(session, QUESTION, phrase.own(session.t))
    elif button.action is PhraseAction.USE:
        await _use(session, suggested(button.code))
    else:
        is_new = button.action is PhraseAction.NEW
        another = await _offered(session, is_new=True) if is_new else await _shown(session)
        await session.show(session.with_resume(another))


async def typed(session: Session, _: str, text: str) -> None:
    """Words of the person's own, or the reason why not these and the question again."""
    try:
        chosen = clean_phrase(text)
    except Rejection as rejection:
        session.notice = session.t.tell(rejection)
        await session.show(phrase.own(session.t))
        return
    questions.answered(session)
    await _keep(session, chosen)


async def _use(session: Session, chosen: str | None) -> None:
    if chosen is None:
        await session.explain("stale.button")
    else:
        await _keep(session, chosen)


async def _keep(session: Session, chosen: str) -> None:
    session.person = replace(session.person, phrase=chosen, suggestion=None)
    async with session.desk.store.transaction() as tx:
        await UserRepository(tx).save(session.person)
    await session.show(session.with_resume(phrase.kept(session.t, chosen)))


async def _shown(session: Session) -> Screen:
    """The person's phrase; where they have none, a suggestion."""
    return await _offered(session) if session.person.phrase is None else phrase.mine(session.t, session.person.phrase)


async def _offered(session: Session, *, is_new: bool = False) -> Screen:
    suggestion = await session.suggestion(is_new=is_new)
    return phrase.offer(session.t, suggestion, has_one=session.person.phrase is not None)
