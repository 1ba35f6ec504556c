"""The message that shows a full recipient for a minute. It is sent once, and then only edited."""

from collections.abc import Callable

from bot.infra.feature import Infra
from bot.infra.i18n import Translator, translator_for
from bot.infra.outbox.model import DeliveryOutcome, Sent, Undeliverable
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.outbound.sender import Gone, Invalid
from bot.infra.telegram.outbound.sender import Outcome as CallOutcome
from bot.infra.telegram.ui.screen import Screen
from bot.support.reveal import screens
from bot.support.reveal.model import Reveal
from bot.support.service_orders import Subject
from bot.users.model import User
from bot.users.repository import UserRepository

Show = Callable[[Translator, User | None], Screen]


class RevealMessages:
    """Show and mask a full recipient in Telegram. The calls have one priority, so they arrive in order."""

    def __init__(self, infra: Infra) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._translations = infra.translations

    async def open(self, staff_id: int, order: Subject) -> DeliveryOutcome:
        """Send the message without the recipient. It can't be forwarded or copied."""
        screen = await self._screen(staff_id, lambda t, _: screens.show_placeholder(t, order))
        return delivery_outcome(await self._messenger.send_text(staff_id, screen.text, priority="talk", protected=True))

    async def show(self, reveal: Reveal, order: Subject) -> DeliveryOutcome:
        """Edit the message to show the full recipient."""
        edited = await self._edit(reveal, lambda t, who: screens.show_recipient(t, reveal, order, who))
        return Undeliverable("the message is gone") if isinstance(edited, Gone) else delivery_outcome(edited)

    async def mask(self, reveal: Reveal, order: Subject | None) -> DeliveryOutcome:
        """Edit the message to mask the recipient. If that fails, delete the message."""
        if reveal.message_id is None:
            return Sent()
        edited = await self._edit(reveal, lambda t, _: screens.show_masked(t, reveal, order))
        if not isinstance(edited, Gone | Invalid):
            return delivery_outcome(edited)
        return delivery_outcome(await self._messenger.delete(reveal.staff_id, reveal.message_id, priority="talk"))

    async def _edit(self, reveal: Reveal, show: Show) -> CallOutcome:
        if reveal.message_id is None:
            return Gone()
        screen = await self._screen(reveal.staff_id, show)
        return await self._messenger.edit_text(
            reveal.staff_id, reveal.message_id, screen.text, screen.keyboard, priority="talk"
        )

    async def _screen(self, staff_id: int, show: Show) -> Screen:
        async with self._database.reading() as tx:
            user = await UserRepository(tx).get(staff_id)
        return show(translator_for(self._translations, user), user)
