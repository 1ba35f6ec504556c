"""One's own data: `/privacy`, and the buttons under it, at any point of any conversation.

Every button acts on the data of whoever presses it. The one that deletes bears its person and its moment besides: an
old one that is found again after years, or after a new beginning, asks anew.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from bot.infra.telegram.outbound.sender import Delivered
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.screen import Screen
from bot.infra.telegram.ui.session import Session
from bot.users.buttons import DeletionButton, PrivacyAction, PrivacyButton
from bot.users.screens import privacy

FILE_NAME: Final = "kirim-data.json"
"""Without the person's id: a file is passed on more easily than a chat."""

STANDS_FOR: Final = timedelta(minutes=15)
"""So long a confirmation means what it said: meanwhile nothing much has been added to what it named."""

routes = Routes[Session]()


@routes.command("privacy")
async def show_privacy(session: Session, _: str) -> None:
    """Show what is kept of the user, and what they can do about it."""
    session.message_id = None
    await _show(session)


@routes.button(PrivacyButton)
async def privacy_button(session: Session, button: PrivacyButton) -> None:
    """Do what a button of the user's data says."""
    await session.acknowledge()
    await ACTIONS[button.action](session)


@routes.button(DeletionButton, belongs_to="user")
async def deletion_button(session: Session, button: DeletionButton) -> None:
    """Delete, if the confirmation is this person's own and still means what it said."""
    if button.person_id != session.person.id:
        await session.acknowledge(session.t.plain("privacy.not_yours"), alert=True)
        return
    await session.acknowledge()
    asked_at = privacy.moment_of(button.asked_at)
    if session.person.created_at > asked_at:
        await _was_deleted_before(session)
    elif session.desk.clock.now() - asked_at > STANDS_FOR:
        await _ask(session)
    else:
        await _delete(session)


async def _show(session: Session) -> None:
    wished = session.person.delete_asked_at is not None
    shown = privacy.screen(session.t, session.desk.privacy.retention_days, session.desk.provider, wished=wished)
    await session.show(session.with_resume(shown))


async def _see(session: Session) -> None:
    overview = await session.desk.privacy.overview(session.person)
    await session.show(privacy.summary(session.t, overview, session.zone))


async def _file(session: Session) -> None:
    content = await session.desk.privacy.export(session.person)
    sent = await session.desk.messenger.send_document(
        session.chat_id, content, FILE_NAME, session.t("privacy.file_caption"), lane="talk"
    )
    if not isinstance(sent, Delivered):
        await session.say(Screen(session.t("privacy.file_not_sent"), privacy.file_row(session.t)))


async def _ask(session: Session) -> None:
    """The second question. What it names is as it is now, and so it bears the moment."""
    now = session.desk.clock.now()
    overview = await session.desk.privacy.overview(session.person)
    waits = await session.desk.privacy.waits(session.person.id)
    await session.show(privacy.confirm(session.t, overview, waits, now))


async def _delete(session: Session) -> None:
    waits = await session.desk.privacy.delete(session.person)
    if waits.is_over:
        # Nothing that this session still knows may be saved again.
        session.draft = session.away_since = None
        await session.show(privacy.deleted(session.t))
    else:
        await session.show(privacy.waiting(session.t, waits, session.desk.clock.now()))


async def _was_deleted_before(session: Session) -> None:
    """A second tap, or one that a crash has replayed, after the first has deleted everything."""
    if await session.desk.privacy.is_unknown(session.person.id):
        await _delete(session)
    else:
        session.message_id = None
        await session.show(privacy.done_before(session.t))


async def _keep(session: Session) -> None:
    if session.person.delete_asked_at is not None:
        session.person = await session.desk.privacy.keep(session.person)
        session.notice = session.t("privacy.kept")
    await _show(session)


ACTIONS: dict[PrivacyAction, Callable[[Session], Awaitable[None]]] = {
    PrivacyAction.SHOW: _show,
    PrivacyAction.SEE: _see,
    PrivacyAction.FILE: _file,
    PrivacyAction.DELETE: _ask,
    PrivacyAction.KEEP: _keep,
}
