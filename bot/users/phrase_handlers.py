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
async def show_phrase(visit: Session, _: str) -> None:
    """Show the user's phrase, or suggest one."""
    await visit.say(visit.with_resume(await _shown(visit)))


@routes.button(PhraseButton)
async def phrase_button(visit: Session, button: PhraseButton) -> None:
    """Do what a button of the phrase says."""
    await visit.acknowledge()
    if button.action is PhraseAction.OWN:
        await questions.ask(visit, QUESTION, phrase.own(visit.t))
    elif button.action is PhraseAction.USE:
        await _use(visit, suggested(button.code))
    else:
        is_new = button.action is PhraseAction.NEW
        another = await _offered(visit, is_new=True) if is_new else await _shown(visit)
        await visit.show(visit.with_resume(another))


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
