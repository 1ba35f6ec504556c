"""Handlers of `/broadcast`, `/broadcasts` and the buttons of broadcasts, for operators only.

Other users get the same answer as for an unknown command or an old button. Each button contains the revision that it
was shown for. If the broadcast has changed since then, its current state is shown and nothing is done twice.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from bot.broadcasts.buttons import BroadcastAction, BroadcastButton, BroadcastListButton, NewBroadcastButton
from bot.broadcasts.compose_handlers import ComposeHandlers
from bot.broadcasts.drafts import BroadcastDrafts, Preview
from bot.broadcasts.messages import BroadcastMessages
from bot.broadcasts.model import CHART, PERIODS, Broadcast, BroadcastStatus, BroadcastWarning
from bot.broadcasts.screens import compose as compose_screens
from bot.broadcasts.screens import confirm as confirm_screens
from bot.broadcasts.screens import list as list_screens
from bot.broadcasts.service import BroadcastService
from bot.core.datetime_parsing import MAX_DAYS
from bot.core.errors import Rejection
from bot.core.time_of_day import MINUTES
from bot.infra.i18n import LOCALES
from bot.infra.telegram.outbound.sender import Delivered, Invalid, Outcome
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users.session import Session

READ_ONLY_ACTIONS: Final = frozenset({BroadcastAction.PAGE, BroadcastAction.SHOW_MESSAGES, BroadcastAction.COPY})
"""Actions that change nothing, so they also work in old messages."""

_Action = Callable[[Session, Broadcast, str], Awaitable[bool]]
"""Returns False if the broadcast no longer allows the action."""


class BroadcastHandlers:
    """Let operators write, preview, confirm and list broadcasts."""

    def __init__(
        self,
        *,
        drafts: BroadcastDrafts,
        broadcasts: BroadcastService,
        compose: ComposeHandlers,
        messages: BroadcastMessages,
    ) -> None:
        self._drafts = drafts
        self._broadcasts = broadcasts
        self._compose = compose
        self._messages = messages

    def routes(self) -> Routes[Session]:
        """Return the commands and the buttons."""
        routes = Routes[Session](Audience.OPERATORS)
        routes.add_command("broadcast", self.write_broadcast, menu={Menu.OPERATORS: 20})
        routes.add_command("broadcasts", self.list_broadcasts, menu={Menu.OPERATORS: 30})
        routes.add_button(NewBroadcastButton, self.new_broadcast_button)
        routes.add_button(BroadcastListButton, self.list_button)
        actions: Mapping[BroadcastAction, _Action] = {
            BroadcastAction.PAGE: self._show_page,
            BroadcastAction.EDIT: self._edit,
            BroadcastAction.TEXT: self._ask_text,
            BroadcastAction.DEFAULT_TEXT: self._use_default_text,
            BroadcastAction.PICTURE: self._choose_picture,
            BroadcastAction.AUDIENCE: self._choose_audience,
            BroadcastAction.DAYS: self._choose_days,
            BroadcastAction.WHEN: self._choose_start,
            BroadcastAction.DAILY: self._choose_daily,
            BroadcastAction.DISCARD: self._discard,
            BroadcastAction.COPY: self._copy,
            BroadcastAction.SHOW_MESSAGES: self._show_messages,
            BroadcastAction.PREVIEW: self._preview,
            BroadcastAction.CONFIRM: self._confirm,
            BroadcastAction.CONFIRM_ANYWAY: self._confirm,
            BroadcastAction.CANCEL: self._cancel,
        }
        routes.add_actions(BroadcastButton, self.broadcast_button, actions)
        return routes

    async def write_broadcast(self, session: Session, _: str) -> None:
        """Show the operator's draft."""
        session.message_id = None
        await self._compose.show_draft(session, await self._drafts.open(session.user.id))

    async def list_broadcasts(self, session: Session, _: str) -> None:
        """Show the newest broadcasts."""
        session.message_id = None
        await self._show_list(session, 0)

    async def new_broadcast_button(self, session: Session, _: NewBroadcastButton) -> None:
        """Replace the list with the operator's draft."""
        await session.acknowledge()
        await self._compose.show_draft(session, await self._drafts.open(session.user.id))

    async def list_button(self, session: Session, button: BroadcastListButton) -> None:
        """Show another page of the list."""
        await session.acknowledge()
        await self._show_list(session, button.offset)

    async def broadcast_button(self, session: Session, button: BroadcastButton, act: _Action) -> None:
        """Run the button's action, unless the broadcast has changed since the button was shown."""
        broadcast = await self._drafts.get(button.broadcast_id)
        if broadcast is None:
            await session.explain("users.stale.button")
        elif button.action not in READ_ONLY_ACTIONS and button.revision != broadcast.revision:
            await self._show_current(session, broadcast)
        elif not await act(session, broadcast, button.argument):
            await self._show_current(session, await self._drafts.get(broadcast.id) or broadcast)

    async def _show_current(self, session: Session, broadcast: Broadcast) -> None:
        """Show the broadcast as it is now, because the button was old or another operator was faster."""
        await session.acknowledge(session.t.plain("broadcasts.changed_meanwhile"))
        if broadcast.status is BroadcastStatus.DRAFT and broadcast.operator_id == session.user.id:
            await self._compose.show_draft(session, broadcast)
        else:
            await self._show_page(session, broadcast)

    async def _show_list(self, session: Session, offset: int) -> None:
        page = await self._drafts.list_page(offset)
        if offset and not page.broadcasts:
            page = await self._drafts.list_page()
        await session.show(list_screens.show_list(session.reader, page))

    async def _show_page(self, session: Session, broadcast: Broadcast, _: str = "") -> bool:
        await session.acknowledge()
        counts = await self._drafts.count_deliveries(broadcast)
        reader = await session.reader_who_knows(broadcast.confirmed_by)
        await session.show(list_screens.show_broadcast(reader, broadcast, counts))
        return True

    async def _edit(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if broadcast.status is not BroadcastStatus.DRAFT:
            return False
        await session.acknowledge()
        return await self._compose.show_draft(session, broadcast)

    async def _ask_text(self, session: Session, broadcast: Broadcast, locale: str) -> bool:
        return locale in LOCALES and await self._compose.ask_text(session, broadcast, locale)

    async def _use_default_text(self, session: Session, broadcast: Broadcast, locale: str) -> bool:
        return await self._compose.save(session, broadcast.with_text(locale, None))

    async def _choose_picture(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._compose.ask_picture(session, broadcast)
        if choice not in {"none", *PERIODS}:
            return False
        changed = replace(broadcast, picture=None if choice == "none" else CHART + choice)
        return await self._compose.save(session, changed)

    async def _choose_audience(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._compose.show_audience(session, broadcast)
        if choice not in {"all", *LOCALES}:
            return False
        audience = replace(broadcast.audience, locale=None if choice == "all" else choice)
        changed = replace(broadcast, audience=audience)
        return await self._compose.save(session, changed, self._compose.show_audience)

    async def _choose_days(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice.isdecimal() or int(choice) > MAX_DAYS:
            return False
        changed = replace(broadcast, audience=replace(broadcast.audience, active_days=int(choice) or None))
        return await self._compose.save(session, changed, self._compose.show_audience)

    async def _choose_start(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if not choice:
            return await self._compose.ask_start(session, broadcast)
        return await self._compose.save(session, replace(broadcast, starts_at=None, daily_minute=None))

    async def _choose_daily(self, session: Session, broadcast: Broadcast, choice: str) -> bool:
        if choice == "other":
            return await self._compose.ask_daily_time(session, broadcast)
        if not choice.isdecimal() or int(choice) >= MINUTES:
            return False
        return await self._compose.save(session, replace(broadcast, starts_at=None, daily_minute=int(choice)))

    async def _discard(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if await self._drafts.discard(broadcast) is None:
            return False
        await session.acknowledge()
        await session.show(compose_screens.show_discarded(session.t))
        return True

    async def _copy(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        await session.acknowledge()
        session.message_id = None
        return await self._compose.show_draft(session, await self._drafts.copy(broadcast, session.user.id))

    async def _cancel(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        if not broadcast.can_be_cancelled:
            return False
        stopped = await self._broadcasts.cancel(broadcast, session.user.id)
        if stopped is None:
            return False
        await session.acknowledge(session.t.plain("broadcasts.called_off"))
        return await self._show_page(session, stopped)

    async def _preview(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        """Show the message in each language, then ask whether to send it."""
        if not broadcast.can_be_confirmed:
            return False
        await session.acknowledge()
        try:
            preview = await self._broadcasts.preview(broadcast)
        except Rejection as rejection:
            return await self._show_rejection(session, broadcast, rejection)
        if preview is None:
            return False
        sent = await self._send_previews(session, preview)
        if isinstance(sent, Delivered):
            await session.show_below(confirm_screens.ask_to_confirm(session.reader, preview))
        else:
            is_refused = isinstance(sent, Invalid)
            await session.show_below(
                confirm_screens.explain_not_shown(session.t, preview.broadcast, is_refused=is_refused)
            )
        return True

    async def _send_previews(self, session: Session, preview: Preview) -> Outcome:
        """Send the message in each language, and return the first outcome that isn't a success, else a success."""
        sent: Outcome = Delivered()
        for locale in preview.broadcast.languages:
            await session.send_message(confirm_screens.show_heading(session.t, locale, preview.readers.get(locale, 0)))
            sent = await self._messages.send(session.chat_id, preview.broadcast, locale)
            if not isinstance(sent, Delivered):
                break
        return sent

    async def _show_messages(self, session: Session, broadcast: Broadcast, _: str) -> bool:
        """Send the messages of a confirmed broadcast, with the newest quote if it has none yet."""
        await session.acknowledge()
        shown = await self._broadcasts.add_quote(broadcast)
        if shown is None:
            await session.show_below(Screen(session.t("broadcasts.no_quote")))
            return True
        for locale in shown.languages:
            await self._messages.send(session.chat_id, shown, locale)
        return True

    async def _confirm(self, session: Session, broadcast: Broadcast, accepted: str) -> bool:
        """Confirm the broadcast. `accepted` are the values of the warnings that the operator accepts."""
        warnings = frozenset(warning for warning in BroadcastWarning if warning in accepted)
        try:
            confirmed = await self._broadcasts.confirm(broadcast, session.user.id, session.zone, warnings)
        except Rejection as rejection:
            await session.acknowledge()
            return await self._show_rejection(session, broadcast, rejection)
        if confirmed is None:
            return False
        await session.acknowledge()
        if isinstance(confirmed, Preview):
            await session.show(confirm_screens.ask_to_confirm_again(session.reader, confirmed))
        else:
            await session.show(confirm_screens.show_confirmed(session.reader, confirmed))
        return True

    async def _show_rejection(self, session: Session, broadcast: Broadcast, rejection: Rejection) -> bool:
        """Say why the broadcast was rejected, and how to continue.

        A draft can be changed. A broadcast whose time has come keeps waiting.
        """
        reason = session.format_rejection(rejection)
        if broadcast.status is BroadcastStatus.DRAFT:
            session.notice = reason
            return await self._compose.show_draft(session, broadcast)
        await session.show_below(Screen(reason, confirm_screens.waiting_rows(session.t, broadcast)))
        return True
