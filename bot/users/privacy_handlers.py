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
async def show_privacy(visit: Session, _: str) -> None:
    """Show what is kept of the user, and what they can do about it."""
    visit.message_id = None
    await _show(visit)


@routes.button(PrivacyButton)
async def privacy_button(visit: Session, button: PrivacyButton) -> None:
    """Do what a button of the user's data says."""
    await visit.acknowledge()
    await ACTIONS[button.action](visit)


@routes.button(DeletionButton, belongs_to="user")
async def deletion_button(visit: Session, button: DeletionButton) -> None:
    """Delete, if the confirmation is this person's own and still means what it said."""
    if button.person_id != visit.person.id:
        await visit.acknowledge(visit.t.plain("privacy.not_yours"), alert=True)
        return
    await visit.acknowledge()
    asked_at = privacy.moment_of(button.asked_at)
    if visit.person.created_at > asked_at:
        await _was_deleted_before(visit)
    elif visit.desk.clock.now() - asked_at > STANDS_FOR:
        await _ask(visit)
    else:
        await _delete(visit)


async def _show(visit: Session) -> None:
    wished = visit.person.delete_asked_at is not None
    shown = privacy.screen(visit.t, visit.desk.privacy.retention_days, visit.desk.provider, wished=wished)
    await visit.show(visit.with_resume(shown))


async def _see(visit: Session) -> None:
    overview = await visit.desk.privacy.overview(visit.person)
    await visit.show(privacy.summary(visit.t, overview, visit.zone))


async def _file(visit: Session) -> None:
    content = await visit.desk.privacy.export(visit.person)
    sent = await visit.desk.messenger.send_document(
        visit.chat_id, content, FILE_NAME, visit.t("privacy.file_caption"), lane="talk"
    )
    if not isinstance(sent, Delivered):
        await visit.say(Screen(visit.t("privacy.file_not_sent"), privacy.file_row(visit.t)))


async def _ask(visit: Session) -> None:
    """The second question. What it names is as it is now, and so it bears the moment."""
    now = visit.desk.clock.now()
    overview = await visit.desk.privacy.overview(visit.person)
    waits = await visit.desk.privacy.waits(visit.person.id)
    await visit.show(privacy.confirm(visit.t, overview, waits, now))


async def _delete(visit: Session) -> None:
    waits = await visit.desk.privacy.delete(visit.person)
    if waits.is_over:
        # Nothing that this visit still knows may be written down again.
        visit.draft = visit.away_since = None
        await visit.show(privacy.deleted(visit.t))
    else:
        await visit.show(privacy.waiting(visit.t, waits, visit.desk.clock.now()))


async def _was_deleted_before(visit: Session) -> None:
    """A second tap, or one that a crash has replayed, after the first has deleted everything."""
    if await visit.desk.privacy.is_unknown(visit.person.id):
        await _delete(visit)
    else:
        visit.message_id = None
        await visit.show(privacy.done_before(visit.t))


async def _keep(visit: Session) -> None:
    if visit.person.delete_asked_at is not None:
        visit.person = await visit.desk.privacy.keep(visit.person)
        visit.notice = visit.t("privacy.kept")
    await _show(visit)


ACTIONS: dict[PrivacyAction, Callable[[Session], Awaitable[None]]] = {
    PrivacyAction.SHOW: _show,
    PrivacyAction.SEE: _see,
    PrivacyAction.FILE: _file,
    PrivacyAction.DELETE: _ask,
    PrivacyAction.KEEP: _keep,
}
